import { CHUNK_LENGTH } from '../core/chunk.js';

/** The layout of the kernels' memory, in bytes. */

export const PAGE_BYTES = 65_536;
/**
 * 16 MiB, in every arena. The system provides only pages that are used, but V8 counts all of them, and a program's
 * first 64 MiB outside V8's heap trigger a garbage collection.
 */
export const SCRATCH_PAGE_COUNT = 256;
/** Loaded series with fewer samples in all get no arena of their own. */
export const ARENA_SAMPLES_MIN = 131_072;

/** First the constants of the two modules (see scripts/build-kernels.mjs), then the borders of windows. */
export const WINDOW_BORDERS_FROM = 16_384;
/** Then pieces of a CSV file, with room to read past their ends, and the columns for its rows. */
export const SCAN_INPUT_FROM = WINDOW_BORDERS_FROM + 4 * (CHUNK_LENGTH + 16);
export const SCAN_INPUT_BYTES = 65_536;
export const SCAN_BLOCK_FROM = SCAN_INPUT_FROM + SCAN_INPUT_BYTES + 256;
export const SCAN_BLOCK_BYTES = 262_144;
export const SCAN_ROWS_MAX = 8192;
export const SCAN_TIMES_FROM = SCAN_BLOCK_FROM + SCAN_BLOCK_BYTES + 256;
export const SCAN_VALUES_FROM = SCAN_TIMES_FROM + 8 * SCAN_ROWS_MAX + 832;
export const JOINED_TIMES_FROM = SCAN_VALUES_FROM + 8 * SCAN_ROWS_MAX + 832;
export const JOINED_VALUES_FROM = JOINED_TIMES_FROM + 8 * SCAN_ROWS_MAX + 832;
/**
 * Then what field-layout.ts says, and then the scratch columns, to the end. Not a sum, as bundles without CSV need
 * nothing of the above (a test adds up). Not the start of a page: from 786432 on, Round took a
 * twentieth longer.
 */
export const COLUMNS_FROM = 2_576_192;
/** The gap between columns. If they began a multiple of 4096 bytes apart, loads would wait for stores. */
export const COLUMN_GAP_BYTES = 832;
