import { expect, test } from 'vitest';
import { COLUMNS_FROM, JOINED_VALUES_FROM, SCAN_ROWS_MAX } from '../../src/kernels/memory-layout.js';

test('the columns for the rows of a CSV file end before the scratch columns begin', () => {
  expect(JOINED_VALUES_FROM + 8 * SCAN_ROWS_MAX).toBeLessThanOrEqual(COLUMNS_FROM);
});
