import { InputError } from '../../core/errors.js';
import { matchOf, patternOf } from '../../core/pattern.js';
import { type SeriesReference, seriesName } from '../../core/series.js';
import { SourceMatcher } from '../../core/source-matcher.js';
import { nearestName } from '../../core/suggest.js';
import { RAW_METRIC } from '../../formats/table/naming.js';
import type { Plan } from '../../plan/plan.js';
import { counted } from '../command.js';
import { type FileOutcome, presentIn } from './file-outcome.js';

const SHOWN_MAX = 12;

/** Checks that the files have every series that the plan reads. @throws InputError naming the missing ones. */
export function checkSources({ sources }: Plan, files: readonly FileOutcome[]): void {
  const present = presentIn(files);
  const matcher = new SourceMatcher(sources);
  const found = new Set(present.flatMap((one) => matcher.placesOf(one).map(({ source }) => source)));
  const lacking = sources.filter((_, source) => !found.has(source));
  if (lacking.length === 0) return;
  const lines = lacking.map((source) => `  ${seriesName(source)}${mend(source, present, files)}`);
  const verb = lacking.length === 1 ? 'is' : 'are';
  const title = `the request reads ${counted(lacking.length, 'series')} that ${verb} not in the input`;
  throw new InputError('input.missing', [`${title}:`, ...lines, describePresent(present.map(seriesName))].join('\n'));
}

function mend(lacking: SeriesReference, present: readonly SeriesReference[], files: readonly FileOutcome[]): string {
  const pattern = patternOf(lacking.timeseriesId);
  if (pattern !== undefined) {
    const matching = present.find(({ timeseriesId }) => matchOf(pattern, timeseriesId) !== undefined);
    if (matching !== undefined)
      return `: no series of that metric; ${matching.timeseriesId} has \`${matching.metric}\``;
    const near = nearestName(seriesName(lacking), patternsOf(present, pattern.name));
    return near === undefined ? ': no series matches this pattern' : `: did you mean \`${near}\`?`;
  }
  const near = nearestName(seriesName(lacking), present.map(seriesName));
  if (near !== undefined) return `: did you mean \`${near}\`?`;
  const sameId = present.find(({ timeseriesId }) => timeseriesId === lacking.timeseriesId);
  if (sameId !== undefined) return `: that series has the metric \`${sameId.metric}\``;
  const isOnly = present.length === 1 && files.every(({ path }) => path !== '-');
  const name = lacking.metric === RAW_METRIC ? lacking.timeseriesId : seriesName(lacking);
  return isOnly ? `: if ${seriesName(present[0]!)} is what it means, say --as ${name}` : '';
}

/** Series as patterns, with the name instead of the last number of the id. */
function patternsOf(present: readonly SeriesReference[], name: string): Set<string> {
  const written = present.map(({ timeseriesId, metric }) => {
    return seriesName({ timeseriesId: timeseriesId.replace(/\d+(?=\D*$)/, `{${name}}`), metric });
  });
  return new Set(written.filter((pattern) => pattern.includes('{')));
}

function describePresent(names: readonly string[]): string {
  if (names.length === 0) return 'the input has no series: its files have no rows';
  const more = names.length > SHOWN_MAX ? `, and ${counted(names.length - SHOWN_MAX, 'other')}` : '';
  return `the input has ${names.slice(0, SHOWN_MAX).join(', ')}${more}`;
}

/** A note for each pattern that some members have no series for: their results are incomplete. */
export function lackingMembers({ sources }: Plan, files: readonly FileOutcome[]): string[] {
  const matcher = new SourceMatcher(sources);
  const membersOf = sources.map(() => new Set<string>());
  for (const { source, member } of presentIn(files).flatMap((one) => matcher.placesOf(one))) {
    if (member !== undefined) membersOf[source]!.add(member);
  }
  const all = new Set(membersOf.flatMap((members) => [...members]));
  return sources.flatMap((source, index) => {
    if (patternOf(source.timeseriesId) === undefined) return [];
    const lacking = [...all].filter((member) => !membersOf[index]!.has(member));
    if (lacking.length === 0) return [];
    const some = lacking.slice(0, SHOWN_MAX).join(', ');
    const more = lacking.length > SHOWN_MAX ? `, and ${counted(lacking.length - SHOWN_MAX, 'other')}` : '';
    return [`${lacking.length} of ${counted(all.size, 'member')} have no ${seriesName(source)}: ${some}${more}`];
  });
}
