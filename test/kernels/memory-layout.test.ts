import { expect, test } from 'vitest';
import { COLUMNS_FROM, JOINED_VALUES_FROM, SCAN_ROWS_MAX } from '../../src/kernels/memory-layout.js';

test('the scratch columns begin where the columns for the rows of a CSV file end', () => {
  expect(COLUMNS_FROM).toBe(JOINED_VALUES_FROM + 8 * SCAN_ROWS_MAX + 832);
});
