import { CheckpointError } from '../../core/errors.js';
import type { Instant } from '../../core/instant.js';
import { filled } from '../../core/pattern.js';
import { type Series, type SeriesReference, seriesKey } from '../../core/series.js';
import { type Place, SourceMatcher } from '../../core/source-matcher.js';
import { isTyped } from '../../core/typed-array.js';
import { planEveryIn } from '../../plan/patterns.js';
import type { Plan } from '../../plan/plan.js';
import { FinishedRun, type Run } from '../batch/run.js';
import { checkColumns, checkList, checkTimes } from '../check-input.js';
import type { Fleet } from '../fleet/fleet.js';
import type { FleetSamples } from '../fleet/fleet-sink.js';
import { openFleet, restoreFleet } from '../fleet/live-fleet.js';
import type { StreamOptions } from '../options.js';
import type { Report } from '../report.js';
import { openStream, restoreStream, type Stream } from '../stream/stream.js';
import { type Part, partsOf } from './parts.js';
import { joinReports } from './reports.js';

/**
 * Opens a stream of a plan whose ids may be patterns. A member joins with its first series and is a stream of its own;
 * all share one plan, so a member costs only the memory of its state. A plan without patterns is opened as by
 * `openStream`.
 *
 * @returns a stream whose results are series of the members; `close` and `preview` give one for each item and member.
 * @throws InputError for invalid options.
 */
export function openEvery(plan: Plan, options: StreamOptions = {}): Stream {
  const planned = planEveryIn(plan, options);
  const { timezone, ...own } = options;
  if (planned.every === undefined) return openStream(planned, own);
  const { plain, template } = partsOf(planned);
  return new EveryStream(planned, plain && openStream(plain.plan, own), template && openFleet(template.plan, own));
}

/**
 * Opens a stream where another left off.
 *
 * @param bytes from `checkpoint` of a stream of the same plan and options.
 * @throws CheckpointError if the bytes are damaged, or belong to another plan, other options or another version.
 */
export function restoreEvery(plan: Plan, bytes: Uint8Array, options: StreamOptions = {}): Stream {
  const planned = planEveryIn(plan, options);
  const { timezone, ...own } = options;
  if (planned.every === undefined) return restoreStream(planned, bytes, own);
  const { plain, template } = partsOf(planned);
  const { unused, first, second } = splitCheckpoint(bytes);
  return new EveryStream(
    planned,
    plain && restoreStream(plain.plan, first, own),
    template && restoreFleet(template.plan, second, own),
    unused,
  );
}

const HEADER_LENGTH = 16;
const LETTERS = 'WREV';

/**
 * Four letters, the length of the stream's checkpoint (uint32), the number of unused samples (double), then the
 * checkpoints of the stream and the fleet.
 */
function joinCheckpoints(unused: number, first: Uint8Array, second: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(HEADER_LENGTH + first.length + second.length);
  const view = new DataView(bytes.buffer);
  for (let i = 0; i < LETTERS.length; i++) bytes[i] = LETTERS.charCodeAt(i);
  view.setUint32(4, first.length, true);
  view.setFloat64(8, unused, true);
  bytes.set(first, HEADER_LENGTH);
  bytes.set(second, HEADER_LENGTH + first.length);
  return bytes;
}

function splitCheckpoint(bytes: Uint8Array): { unused: number; first: Uint8Array; second: Uint8Array } {
  const isOurs = isTyped(bytes, 'Uint8Array') && bytes.length >= HEADER_LENGTH;
  if (!isOurs || String.fromCharCode(...bytes.subarray(0, 4)) !== LETTERS) {
    const expected = 'a checkpoint of a plan with patterns';
    throw new CheckpointError('checkpoint.format', `the bytes are not ${expected}`);
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const cut = HEADER_LENGTH + view.getUint32(4, true);
  return { unused: view.getFloat64(8, true), first: bytes.subarray(HEADER_LENGTH, cut), second: bytes.subarray(cut) };
}

const NOTHING = new Uint8Array(0);

class EveryStream implements Stream {
  readonly #plan: Plan;
  readonly #stream: Stream | undefined;
  readonly #fleet: Fleet | undefined;
  readonly #plain: Part | undefined;
  readonly #template: Part | undefined;
  /** Finds the template's sources. */
  readonly #matcher: SourceMatcher;
  readonly #plainKeys: ReadonlySet<string>;
  readonly #places = new Map<string, readonly Place[]>();
  #unused: number;

  constructor(plan: Plan, stream: Stream | undefined, fleet: Fleet | undefined, unused = 0) {
    const { plain, template } = partsOf(plan);
    this.#plan = plan;
    this.#stream = stream;
    this.#fleet = fleet;
    this.#plain = plain;
    this.#template = template;
    this.#matcher = new SourceMatcher(template?.plan.sources ?? []);
    this.#plainKeys = new Set(plain?.plan.sources.map(seriesKey));
    this.#unused = unused;
  }

  push(series: readonly Series[]): Series[] {
    checkList(series);
    for (const one of series) {
      checkColumns(one);
      checkTimes(one);
    }
    const ofPlain: Series[] = [];
    const bySource = (this.#template?.plan.sources ?? []).map((): Placed[] => []);
    for (const one of series) {
      const key = seriesKey(one);
      const places = this.#places.get(key) ?? this.#matcher.placesOf(one);
      this.#places.set(key, places);
      const isOfPlain = this.#plainKeys.has(key);
      if (isOfPlain) ofPlain.push(one);
      else if (places.length === 0) this.#unused += one.timeMs.length;
      // Members are numbered in the order of the series, however the input is cut.
      for (const { source, member } of places) {
        bySource[source]!.push({ series: one, member: member === undefined ? undefined : this.#fleet!.join(member) });
      }
    }
    this.#late = [];
    const results = bySource.flatMap((own, source) => this.#pushTo(source, own));
    const plain = ofPlain.length === 0 ? [] : (this.#stream?.push(ofPlain) ?? []);
    if (ofPlain.length > 0) this.#late.push(...(this.#stream?.late ?? []));
    return [...plain, ...this.#named(results)];
  }

  advance(instant: Instant): Series[] {
    this.#late = [];
    const results = this.#fleet?.advance(instant) ?? [];
    return [...(this.#stream?.advance(instant) ?? []), ...this.#named(results)];
  }

  close(): Run {
    this.#late = [];
    const fleet = this.#fleet?.close();
    const stream = this.#stream?.close();
    return new FinishedRun(this.#ordered(stream?.series ?? [], fleet?.series ?? []), this.report());
  }

  preview(): Series[] {
    return this.#ordered(this.#stream?.preview() ?? [], this.#fleet?.preview() ?? []);
  }

  checkpoint(): Uint8Array {
    const stream = this.#stream?.checkpoint() ?? NOTHING;
    return joinCheckpoints(this.#unused, stream, this.#fleet?.checkpoint() ?? NOTHING);
  }

  report(): Report {
    const stream = this.#stream?.report();
    const fleet = this.#fleet?.report();
    const parts = [
      { part: this.#plain, report: stream },
      { part: this.#template, report: fleet },
    ];
    return joinReports(this.#plan, parts, this.#unused, Math.max(stream?.durationMs ?? 0, fleet?.durationMs ?? 0));
  }

  get late(): readonly Series[] {
    return this.#late;
  }

  #late: Series[] = [];

  #pushTo(source: number, own: readonly Placed[]): PlacedSamples[] {
    const fleet = this.#fleet;
    if (own.length === 0 || fleet === undefined) return [];
    const reference = this.#template!.plan.sources[source]!;
    const count = own.reduce((sum, { series }) => sum + series.timeMs.length, 0);
    const columns = { member: new Uint32Array(count), timeMs: new Float64Array(count), value: new Float64Array(count) };
    let at = 0;
    for (const {
      series: { timeMs, value },
      member,
    } of own) {
      if (member !== undefined) columns.member.fill(member, at, at + timeMs.length);
      columns.timeMs.set(timeMs, at);
      columns.value.set(value, at);
      at += timeMs.length;
    }
    const isShared = own[0]!.member === undefined;
    const results = isShared ? fleet.pushShared({ ...columns, source }) : fleet.push({ ...columns, source });
    for (const late of fleet.late) {
      if (late.timeMs.length === 0) continue;
      if (isShared) this.#late.push({ ...reference, timeMs: late.timeMs, value: late.value });
      else this.#late.push(...seriesOf(late, (member) => this.#nameOf(reference, member)));
    }
    return results;
  }

  #nameOf({ timeseriesId, metric }: SeriesReference, member: number): SeriesReference {
    return { timeseriesId: filled(timeseriesId, this.#fleet!.nameOf(member)), metric };
  }

  #named(results: readonly PlacedSamples[]): Series[] {
    return results.flatMap((own) => {
      const { output } = this.#template!.plan.items[own.item]!;
      return seriesOf(own, (member) => this.#nameOf(output, member));
    });
  }

  /** All results by item and then by member, with an empty series for each that has no samples. */
  #ordered(plain: readonly Series[], results: readonly PlacedSamples[]): Series[] {
    const ofItems = this.#plan.items.map((): Series[] => []);
    for (const [place, item] of (this.#plain?.items ?? []).entries()) ofItems[item]!.push(plain[place]!);
    for (const [place, item] of (this.#template?.items ?? []).entries()) {
      const { output } = this.#template!.plan.items[place]!;
      const names = Array.from({ length: this.#fleet!.size }, (_, member) => this.#nameOf(output, member));
      const given = results
        .filter((own) => own.item === place)
        .flatMap((own) => seriesOf(own, (member) => names[member]!));
      const byName = new Map(given.map((one) => [one.timeseriesId, one]));
      const empty = { timeMs: new Float64Array(0), value: new Float64Array(0) };
      for (const name of names) ofItems[item]!.push(byName.get(name.timeseriesId) ?? { ...name, ...empty });
    }
    return ofItems.flat();
  }
}

/** A series pushed to a source, of one member or of all. */
interface Placed {
  readonly series: Series;
  readonly member: number | undefined;
}

type PlacedSamples = FleetSamples & { readonly item: number };

/** Splits samples of many members into a series for each, in the order of their numbers. */
function seriesOf({ member, timeMs, value }: FleetSamples, nameOf: (member: number) => SeriesReference): Series[] {
  const runs = new Map<number, { from: number; to: number }[]>();
  for (let from = 0; from < member.length; ) {
    const number = member[from]!;
    let to = from + 1;
    while (to < member.length && member[to] === number) to++;
    const own = runs.get(number);
    if (own === undefined) runs.set(number, [{ from, to }]);
    else own.push({ from, to });
    from = to;
  }
  const column = (of: Float64Array, own: readonly { from: number; to: number }[]): Float64Array => {
    const [first, ...more] = own.map(({ from, to }) => of.slice(from, to));
    return more.length === 0 ? first! : Float64Array.from([first!, ...more].flatMap((part) => [...part]));
  };
  const numbers = [...runs.keys()].sort((a, b) => a - b);
  return numbers.map((number) => {
    const { timeseriesId, metric } = nameOf(number);
    const own = runs.get(number)!;
    return { timeseriesId, metric, timeMs: column(timeMs, own), value: column(value, own) };
  });
}
