import { expect, test } from 'vitest';
import { NAME_TABLE_BYTES, NAMES_FROM } from '../../src/kernels/field-layout.js';
import { COLUMNS_FROM } from '../../src/kernels/memory-layout.js';

test('the scratch columns begin less than a page of 64 KiB after the last of what a CSV file needs', () => {
  const end = NAMES_FROM + 2 * NAME_TABLE_BYTES;
  expect(COLUMNS_FROM).toBeGreaterThanOrEqual(end);
  expect(COLUMNS_FROM).toBeLessThan(end + 65_536);
});
