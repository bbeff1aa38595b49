import { CHUNK_LENGTH } from '../core/chunk.js';

/** What lies where in the memory of the kernels, in bytes. */

export const PAGE_BYTES = 65_536;
/**
 * 16 MiB for all but loaded series, and 64 MiB beside those: only what is used takes memory, but V8 counts it all, and
 * a program's first 64 MiB outside of its heap bring a collection.
 */
export const HOME_PAGE_COUNT = 256;
export const LOADED_PAGE_COUNT = 1024;

/** The constants of the two modules lie below (see scripts/build-kernels.mjs); here the borders of windows. */
export const WINDOW_BORDERS_FROM = 16_384;
/** Then pieces of a CSV file, with room to read past their ends, and the columns that its rows are read into. */
export const SCAN_INPUT_FROM = WINDOW_BORDERS_FROM + 4 * (CHUNK_LENGTH + 16);
export const SCAN_INPUT_BYTES = 65_536;
export const SCAN_BLOCK_FROM = SCAN_INPUT_FROM + SCAN_INPUT_BYTES + 256;
export const SCAN_BLOCK_BYTES = 262_144;
export const SCAN_ROWS_MAX = 8192;
export const SCAN_TIMES_FROM = SCAN_BLOCK_FROM + SCAN_BLOCK_BYTES + 256;
export const SCAN_VALUES_FROM = SCAN_TIMES_FROM + 8 * SCAN_ROWS_MAX + 832;
export const JOINED_TIMES_FROM = SCAN_VALUES_FROM + 8 * SCAN_ROWS_MAX + 832;
export const JOINED_VALUES_FROM = JOINED_TIMES_FROM + 8 * SCAN_ROWS_MAX + 832;
/** Then the scratch columns, to the end. */
export const COLUMNS_FROM = JOINED_VALUES_FROM + 8 * SCAN_ROWS_MAX + 832;
/** Columns lie so much more than their length apart: at a multiple of 4096 bytes, loads would wait for stores. */
export const COLUMN_GAP_BYTES = 832;
