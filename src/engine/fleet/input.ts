import { describeValue, InputError } from '../../core/errors.js';
import { isTyped } from '../../core/typed-array.js';
import { checkAttached, checkEachTime } from '../check-input.js';
import type { FleetSamples } from './fleet-sink.js';

/** Samples for a fleet: three columns of equal length, which are never changed. */
export interface FleetInput extends Pick<FleetSamples, 'timeMs' | 'value'> {
  /** The member that each sample belongs to, by number or by id. A new id joins the fleet. */
  readonly member: Uint32Array | readonly string[];
  /** The source that the samples are of, as an index into `plan.sources`; 0 by default. */
  readonly source?: number;
}

/** Samples that have been checked, with the numbers of their members. */
export type TakenInput = FleetSamples & { readonly source: number };

/**
 * Checks samples before any of them is taken, and finds their members.
 *
 * @param join returns the number of an id; it is called only once everything else is known to be valid.
 * @throws InputError
 */
export function takeInput(
  input: FleetInput,
  sourceCount: number,
  memberCount: number,
  join: (timeseriesId: string) => number,
): TakenInput {
  const { member, timeMs, value, source = 0 } = input ?? {};
  if (!isTyped(timeMs, 'Float64Array') || !isTyped(value, 'Float64Array')) {
    throw new InputError('input.columns', 'samples: expected timeMs and value as Float64Array');
  }
  if (timeMs.length === 0) checkAttached(timeMs, 'samples');
  if (!(isTyped(member, 'Uint32Array') || Array.isArray(member))) {
    const received = describeValue(member);
    throw new InputError('input.columns', `member: expected a Uint32Array or a list of names, received ${received}`);
  }
  if (timeMs.length !== value.length || timeMs.length !== member.length) {
    const received = `${member.length} members, ${timeMs.length} times and ${value.length} values`;
    throw new InputError('input.columns', `samples: expected columns of equal length, received ${received}`);
  }
  if (!(Number.isInteger(source) && source >= 0 && source < sourceCount)) {
    const expected = `the place of one of ${sourceCount} sources`;
    throw new InputError('input.columns', `source: expected ${expected}, received ${describeValue(source)}`);
  }
  checkEachTime(timeMs, () => 'timeMs');
  if (isTyped(member, 'Uint32Array')) checkNumbers(member, memberCount);
  return { source, timeMs, value, member: isTyped(member, 'Uint32Array') ? member : numbersOf(member, join) };
}

function checkNumbers(member: Uint32Array, memberCount: number): void {
  for (let i = 0; i < member.length; i++) {
    if (member[i]! < memberCount) continue;
    const expected = `numbers of ${memberCount} members`;
    throw new InputError('input.columns', `member: expected ${expected}, received ${member[i]} at index ${i}`);
  }
}

function numbersOf(names: readonly unknown[], join: (timeseriesId: string) => number): Uint32Array {
  const at = names.findIndex((name) => typeof name !== 'string');
  if (at >= 0) {
    throw new InputError(
      'input.columns',
      `member: expected names, received ${describeValue(names[at])} at index ${at}`,
    );
  }
  const numbers = new Uint32Array(names.length);
  // `as`: all are strings.
  for (let i = 0; i < numbers.length; i++) numbers[i] = join(names[i] as string);
  return numbers;
}
