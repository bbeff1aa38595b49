import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  createPlan,
  type Fleet,
  type FleetSamples,
  type FleetSeries,
  OutputLimitError,
  openFleet,
  openStream,
  type Plan,
  type Report,
  restoreFleet,
  type Series,
  type Stream,
  type StreamOptions,
} from '../../src/index.js';
import { joinParts } from '../conformance/conformance.js';
import { expectSame, sceneArbitrary, seriesOf } from './running.js';
import { delayed, type Samples } from './samples.js';

const MEMBERS = ['a', 'b', '', 'd\u{1f600}'];

/**
 * One call: samples of one source for some members, each in a piece of its own, or an advance; and what happens after
 * it.
 */
interface Turn {
  readonly source: number;
  readonly pieces: readonly { readonly member: number; readonly count: number }[];
  readonly after: 'nothing' | 'advance' | 'restore' | 'preview';
  readonly byName: boolean;
}

const turnArbitrary: fc.Arbitrary<Turn> = fc.record({
  source: fc.nat(2),
  pieces: fc.array(fc.record({ member: fc.nat(MEMBERS.length - 1), count: fc.integer({ min: 1, max: 12 }) }), {
    maxLength: 6,
  }),
  after: fc.constantFrom(
    'nothing' as const,
    'nothing' as const,
    'advance' as const,
    'restore' as const,
    'preview' as const,
  ),
  byName: fc.boolean(),
});

/** The fleet and, for each member, the stream that it must equal; both get the same samples. */
class Pair {
  fleet: Fleet;
  readonly streams: readonly Stream[];
  readonly fleetParts: Series[][] = MEMBERS.map(() => []);
  readonly streamParts: Series[][] = MEMBERS.map(() => []);
  readonly late: string[][] = [[], []];
  readonly position = MEMBERS.map(() => [0, 0, 0]);

  constructor(
    readonly plan: Plan,
    readonly options: StreamOptions,
    readonly inputs: readonly (readonly Series[])[],
  ) {
    this.fleet = openFleet(plan, options);
    this.streams = MEMBERS.map(() => openStream(plan, options));
    for (const name of MEMBERS) this.fleet.join(name);
  }

  push({ source, pieces, byName }: Turn): void {
    if (source >= this.plan.sources.length) return;
    const parts = pieces.map(({ member, count }) => ({ member, samples: this.#next(member, source, count) }));
    const members = parts.flatMap(({ member, samples }) => [...samples.timeMs].map(() => member));
    const column = (name: 'timeMs' | 'value') => Float64Array.from(parts.flatMap(({ samples }) => [...samples[name]]));
    const member = byName ? members.map((number) => MEMBERS[number]!) : Uint32Array.from(members);
    const samples = { source, member, timeMs: column('timeMs'), value: column('value') };
    this.#keep(this.fleet.push(samples), this.fleetParts);
    this.late[0]!.push(...this.fleet.late.flatMap((late, k) => linesOfLate(k, late)));
    for (const { member: number, samples: own } of parts) {
      const stream = this.streams[number]!;
      this.streamParts[number]!.push(...stream.push([own]));
      for (const late of stream.late) {
        const k = this.plan.sources.findIndex(({ timeseriesId }) => timeseriesId === late.timeseriesId);
        this.late[1]!.push(...linesOfLate(k, { ...late, member: Uint32Array.from(late.timeMs, () => number) }));
      }
    }
  }

  advance(): void {
    const times = this.inputs.flatMap((own, member) =>
      own.map(({ timeMs }, source) => timeMs[this.position[member]![source]!] ?? Number.POSITIVE_INFINITY),
    );
    const timeMs = Math.min(...times);
    if (timeMs === Number.POSITIVE_INFINITY) return;
    this.#keep(this.fleet.advance(timeMs), this.fleetParts);
    for (const [k, stream] of this.streams.entries()) this.streamParts[k]!.push(...stream.advance(timeMs));
  }

  restore(): void {
    const bytes = this.fleet.checkpoint();
    this.fleet = restoreFleet(this.plan, bytes, this.options);
    expect(this.fleet.checkpoint()).toEqual(bytes);
  }

  preview(): void {
    const bytes = this.fleet.checkpoint();
    const parts: Series[][] = MEMBERS.map(() => []);
    this.#keep(this.fleet.preview(), parts);
    for (const [k, stream] of this.streams.entries()) {
      expectSame(this.#joined(parts[k]!), this.#joined(stream.preview()));
    }
    expect(this.fleet.checkpoint()).toEqual(bytes);
  }

  close(): void {
    const { series, report } = this.fleet.close();
    this.#keep(series, this.fleetParts);
    const runs = this.streams.map((stream) => stream.close());
    for (const [k, run] of runs.entries()) this.streamParts[k]!.push(...run.series);
    for (const [k, own] of this.fleetParts.entries()) {
      expectSame(this.#joined(own), this.#joined(this.streamParts[k]!));
    }
    expect(this.late[0]!.sort()).toEqual(this.late[1]!.sort());
    expect(countsIn(report)).toEqual(sum(runs.map((run) => countsIn(run.report))));
  }

  #next(member: number, source: number, count: number): Series {
    const input = this.inputs[member]![source]!;
    const from = this.position[member]![source]!;
    this.position[member]![source] = Math.min(from + count, input.timeMs.length);
    const part = (column: Float64Array): Float64Array => column.slice(from, from + count);
    return { ...this.plan.sources[source]!, timeMs: part(input.timeMs), value: part(input.value) };
  }

  #keep(results: readonly FleetSeries[], parts: Series[][]): void {
    for (const { item, member, timeMs, value } of results) {
      const { output } = this.plan.items[item]!;
      for (let i = 0; i < member.length; i++) {
        const one = { ...output, timeMs: timeMs.slice(i, i + 1), value: value.slice(i, i + 1) };
        parts[member[i]!]!.push(one);
      }
    }
  }

  #joined(parts: readonly Series[]): Series[] {
    return this.plan.items.map(({ output }) => joinParts(output, parts));
  }
}

function linesOfLate(source: number, { member, timeMs, value }: FleetSamples): string[] {
  return [...timeMs].map((t, i) => `${source} ${member[i]} ${t} ${value[i]}`);
}

function countsIn({ sources, steps }: Report): number[] {
  const text = JSON.stringify(
    [...sources, ...steps].map(({ samplesIn, samplesOut, dropped }) => [samplesIn, samplesOut, dropped]),
  );
  return (text.match(/\d+/g) ?? []).map(Number);
}

function sum(lists: readonly (readonly number[])[]): number[] {
  return lists[0]!.map((_, k) => lists.reduce((total, list) => total + list[k]!, 0));
}

test('a fleet gives each member the bits of a stream of its own, however it is pushed, advanced and restored', () => {
  const delays = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 6 });
  const lateness = fc.constantFrom('PT0S', 'PT1M', 'P5D');
  const feeding = fc.tuple(fc.array(turnArbitrary, { maxLength: 12 }), delays, lateness);
  const property = fc.property(sceneArbitrary(5), feeding, (scene, [turns, lags, allowedLateness]) => {
    const { request, samples, options } = scene;
    const plan = createPlan(request, options.timezone === undefined ? {} : { timezone: options.timezone });
    const inputs = MEMBERS.map((_, k) => {
      const own: readonly Samples[] = samples.map((_one, source) => samples[(source + k) % samples.length]!);
      return seriesOf(own.map((one) => delayed(one, lags.slice(k), 60_000)));
    });
    const pair = new Pair(plan, { ...options, maxOutputSamples: 1_000_000, allowedLateness }, inputs);
    try {
      for (const turn of turns) {
        pair.push(turn);
        if (turn.after !== 'nothing') pair[turn.after]();
      }
      pair.close();
    } catch (error) {
      if (!(error instanceof OutputLimitError)) throw error;
    }
  });
  fc.assert(property, { numRuns: 600 });
});
