import { CheckpointError, InputError } from '../../core/errors.js';
import { hashBytes } from '../../core/hash.js';
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
  // The parts themselves know their plans, but not whether there is to be another part.
  if ((plain === undefined) !== (first.length === 0) || (template === undefined) !== (second.length === 0)) {
    const mend = 'restore it with the plan that it was written with';
    throw new CheckpointError('checkpoint.plan', `the checkpoint belongs to another plan; ${mend}`);
  }
  return new EveryStream(
    planned,
    plain && restoreStream(plain.plan, first, own),
    template && restoreFleet(template.plan, second, own),
    unused,
  );
}

const LETTERS = 'WREV';
const VERSION = 2;
const HEADER_LENGTH = 17;
const SUM_LENGTH = 8;

/**
 * Four letters, the version (1 byte), the length of the stream's checkpoint (uint32), the number of unused samples
 * (double), then the checkpoints of the stream and the fleet, and a hash of all bytes before it (8 bytes).
 */
function joinCheckpoints(unused: number, first: Uint8Array, second: Uint8Array): Uint8Array {
  const end = HEADER_LENGTH + first.length + second.length;
  const bytes = new Uint8Array(end + SUM_LENGTH);
  const view = new DataView(bytes.buffer);
  for (let i = 0; i < LETTERS.length; i++) bytes[i] = LETTERS.charCodeAt(i);
  view.setUint8(4, VERSION);
  view.setUint32(5, first.length, true);
  view.setFloat64(9, unused, true);
  bytes.set(first, HEADER_LENGTH);
  bytes.set(second, HEADER_LENGTH + first.length);
  view.setBigUint64(end, hashBytes(bytes, end), true);
  return bytes;
}

function splitCheckpoint(bytes: Uint8Array): { unused: number; first: Uint8Array; second: Uint8Array } {
  const isOurs = isTyped(bytes, 'Uint8Array') && bytes.length >= HEADER_LENGTH + SUM_LENGTH;
  if (!isOurs || String.fromCharCode(...bytes.subarray(0, 4)) !== LETTERS) {
    const expected = 'a checkpoint of a plan with patterns';
    throw new CheckpointError('checkpoint.format', `the bytes are not ${expected}`);
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (view.getUint8(4) !== VERSION) {
    const expected = `expected version ${VERSION}, received ${view.getUint8(4)}`;
    throw new CheckpointError('checkpoint.version', `the checkpoint is of another version: ${expected}`);
  }
  const end = bytes.length - SUM_LENGTH;
  if (view.getBigUint64(end, true) !== hashBytes(bytes, end)) {
    throw new CheckpointError('checkpoint.format', 'the checkpoint is damaged');
  }
  const cut = HEADER_LENGTH + view.getUint32(5, true);
  return {
    unused: view.getFloat64(9, true),
    first: bytes.subarray(HEADER_LENGTH, cut),
    second: bytes.subarray(cut, end),
  };
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
  #isClosed = false;
  #failure: unknown;

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
    return this.#call(() => this.#pushAll(series));
  }

  advance(instant: Instant): Series[] {
    return this.#call(() => {
      this.#late = [];
      const results = this.#fleet?.advance(instant) ?? [];
      return [...(this.#stream?.advance(instant) ?? []), ...this.#named(results)];
    });
  }

  close(): Run {
    return this.#call(() => {
      this.#late = [];
      const fleet = this.#fleet?.close();
      const stream = this.#stream?.close();
      this.#isClosed = true;
      return new FinishedRun(this.#ordered(stream?.series ?? [], fleet?.series ?? []), this.report());
    });
  }

  preview(): Series[] {
    this.#assertUsable();
    return this.#ordered(this.#stream?.preview() ?? [], this.#fleet?.preview() ?? []);
  }

  checkpoint(): Uint8Array {
    if (this.#isClosed || this.#failure !== undefined) {
      const reason = this.#isClosed ? 'is closed' : 'has failed';
      throw new CheckpointError('stream.closed', `the stream ${reason}, so there is no state to keep`);
    }
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

  #assertUsable(): void {
    if (this.#isClosed) {
      throw new InputError('stream.closed', 'the stream is closed; open another, or restore a checkpoint');
    }
    if (this.#failure !== undefined) {
      const message = 'the stream has failed before; restore its last checkpoint';
      throw new InputError('stream.closed', message, { cause: this.#failure });
    }
  }

  /** Does the work of one call. If a part fails in it, the other lacks the call, so the stream takes no more calls. */
  #call<Result>(work: () => Result): Result {
    this.#assertUsable();
    try {
      return work();
    } catch (error) {
      // An InputError comes before any part has changed.
      if (!(error instanceof InputError)) this.#failure = error;
      throw error;
    }
  }

  #pushAll(series: readonly Series[]): Series[] {
    const ofPlain: Series[] = [];
    const bySource = (this.#template?.plan.sources ?? []).map((): Placed[] => []);
    for (const one of series) {
      const key = seriesKey(one);
      const places = this.#places.get(key) ?? this.#matcher.placesOf(one);
      const isOfPlain = this.#plainKeys.has(key);
      // Of series that nobody reads, ever new ones may come.
      if (isOfPlain || places.length > 0) this.#places.set(key, places);
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
