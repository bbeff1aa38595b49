import { arrow } from './arrow/arrow.js';
import { csv } from './csv/format.js';
import type { Format } from './format.js';
import { lineProtocol } from './line-protocol/line-protocol.js';
import { ndjson } from './ndjson/ndjson.js';
import { parquet } from './parquet/parquet.js';

/** Every format. The first one is for files whose names have no known extension. */
export const formats: readonly [Format, ...Format[]] = [csv, ndjson, lineProtocol, parquet, arrow];

export const formatNames: readonly string[] = formats.map(({ name }) => name);

export const writtenFormats = formats.filter(({ openWriter }) => openWriter !== undefined);

/** The format of a file by its name, which may end with `.gz` or `.zst`. */
export function formatOf(fileName: string): Format {
  const [, ending = ''] = /\.([a-z0-9]+)(?:\.(?:gz|zst))?$/i.exec(fileName) ?? [];
  return formats.find(({ extensions }) => extensions.includes(ending.toLowerCase())) ?? formats[0];
}
