// What a format reads from a text: samples, counts, rows that are refused.
import type { RejectedRow } from '../../src/formats/csv/options.js';
import type { Format, FormatOptions } from '../../src/formats/format.js';

/** @param cuts where blocks of the file end, in bytes from its end. */
export async function readText(
  format: Format,
  text: string,
  options: Partial<FormatOptions> = {},
  cuts: readonly number[] = [],
) {
  const bytes = new TextEncoder().encode(text);
  const ends = [...cuts.map((cut) => Math.max(0, bytes.length - cut)).sort((a, b) => a - b), bytes.length];
  async function* blocks() {
    for (const [i, end] of ends.entries()) yield bytes.slice(ends[i - 1] ?? 0, end);
  }
  const samples = new Map<string, [number, number][]>();
  const rejected: object[] = [];
  const lines: number[] = [];
  const summary = await format.read(
    { name: 'x', blocks },
    {
      fileName: 'x',
      onBadRow: 'skip',
      onReject: (row) => rejected.push(faultOf(row)),
      ...options,
    },
    {
      onChunk: (chunk, line) => {
        lines.push(line);
        for (const { timeseriesId, metric, timeMs, value } of chunk) {
          const key = JSON.stringify([timeseriesId, metric]);
          const all = samples.get(key) ?? [];
          samples.set(key, all);
          for (const [i, time] of timeMs.entries()) all.push([time, value[i]!]);
        }
      },
      isStopped: () => false,
    },
  );
  return { summary, samples, rejected, lines };
}

/** Without the text of the row, which two writers of the same row write differently. */
function faultOf({ line, reason, text: cell, column }: RejectedRow) {
  const isUnread = reason.startsWith('cannot be read');
  return { line, column, reason: reason.split(', received')[0], ...(isUnread ? {} : { cell }) };
}
