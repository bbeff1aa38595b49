import type { AsyncBuffer, FileMetaData } from 'hyparquet';
import { joinedFiles } from '../joined-files.js';

/**
 * Checks that the index of a file is that of the whole file. `cat` joins files into one with the index of the last,
 * whose places, counted from its own beginning, then lead into the others.
 *
 * @throws Error for joined files.
 */
export async function checkIsOne(file: AsyncBuffer, metadata: FileMetaData): Promise<void> {
  const { row_groups: groups, metadata_length: indexBytes } = metadata;
  const ends = groups
    .flatMap(({ columns }) => columns)
    .flatMap((column) => [
      endOf(
        column.meta_data?.dictionary_page_offset || column.meta_data?.data_page_offset,
        column.meta_data?.total_compressed_size,
      ),
      endOf(column.meta_data?.bloom_filter_offset, column.meta_data?.bloom_filter_length),
      endOf(column.column_index_offset, column.column_index_length),
      endOf(column.offset_index_offset, column.offset_index_length),
    ]);
  // What the index does not know of is as long as the files before the last: a file ends and another begins there.
  const restBytes = file.byteLength - 8 - indexBytes - ends.reduce((a, b) => Math.max(a, b), 0);
  if (restBytes < 12) return;
  const border = new TextDecoder().decode(await file.slice(restBytes - 4, restBytes + 4));
  if (border === 'PAR1PAR1') throw joinedFiles();
}

function endOf(offset: bigint | number = 0, length: bigint | number = 0): number {
  return Number(offset) + Number(length);
}
