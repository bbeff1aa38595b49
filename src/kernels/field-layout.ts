import { JOINED_VALUES_FROM, SCAN_ROWS_MAX } from './memory-layout.js';

// The layout of the kernels' memory for rows of several fields, in bytes. Bundles without CSV need none of it.

/** For rows of several fields: what their columns hold, their values, and two tables of names. */
export const FIELD_COLUMNS_FROM = JOINED_VALUES_FROM + 8 * SCAN_ROWS_MAX + 832;
export const FIELD_COLUMNS_MAX = 1024;
export const FIELD_COLUMN_BYTES = 48;
export const FIELD_CELLS_FROM = FIELD_COLUMNS_FROM + FIELD_COLUMNS_MAX * FIELD_COLUMN_BYTES;
/** Room for this many rows, with as many columns as there may be and one for where rows end. */
export const FIELD_ROWS_MIN = 72;
const FIELD_CELLS_BYTES = 8 * FIELD_ROWS_MIN * (FIELD_COLUMNS_MAX + 1);
export const NAMES_FROM = FIELD_CELLS_FROM + FIELD_CELLS_BYTES;
/** The most names of a table, each of which has two slots and an entry (see assembly/csv-names.ts). */
export const NAMES_MAX = 8192;
const NAME_SLOTS_FROM = 16;
export const NAME_ENTRIES_FROM = NAME_SLOTS_FROM + 4 * 2 * NAMES_MAX;
export const NAME_ENTRY_BYTES = 64;
export const NAME_TABLE_BYTES = NAME_ENTRIES_FROM + NAME_ENTRY_BYTES * NAMES_MAX;
