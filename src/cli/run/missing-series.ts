import { InputError } from '../../core/errors.js';
import { type SeriesReference, seriesKey, seriesName } from '../../core/series.js';
import { nearestName } from '../../core/suggest.js';
import type { Plan } from '../../plan/plan.js';
import { counted } from '../terminal/words.js';
import type { FileOutcome } from './read-file.js';

const SHOWN_MAX = 12;

/** Checks that the files have every series that the plan reads. @throws InputError naming those that they lack */
export function checkSources({ sources }: Plan, files: readonly FileOutcome[]): void {
  const present = new Map<string, SeriesReference>();
  for (const { series } of files) for (const one of series) present.set(seriesKey(one), one);
  const lacking = sources.filter((source) => !present.has(seriesKey(source)));
  if (lacking.length === 0) return;
  const names = [...present.values()].map(seriesName);
  const lines = lacking.map((source) => `  ${seriesName(source)}${mend(source, [...present.values()], files)}`);
  const title = `the request reads ${counted(lacking.length, 'series')} that the input lacks`;
  throw new InputError('input.missing', [`${title}:`, ...lines, describePresent(names)].join('\n'));
}

function mend(lacking: SeriesReference, present: readonly SeriesReference[], files: readonly FileOutcome[]): string {
  const near = nearestName(seriesName(lacking), present.map(seriesName));
  if (near !== undefined) return `: did you mean \`${near}\`?`;
  const sameId = present.find(({ timeseriesId }) => timeseriesId === lacking.timeseriesId);
  if (sameId !== undefined) return `: that series has the metric \`${sameId.metric}\``;
  const single = files.find(({ layout, path }) => layout === 'single' && path !== '-');
  if (single === undefined) return '';
  return `: a file of time and value alone holds the series of its own name; rename ${single.path}, or the series`;
}

function describePresent(names: readonly string[]): string {
  if (names.length === 0) return 'the input has no series at all: its files have no rows';
  const more = names.length > SHOWN_MAX ? `, and ${counted(names.length - SHOWN_MAX, 'other')}` : '';
  return `the input has ${names.slice(0, SHOWN_MAX).join(', ')}${more}`;
}
