import type { Plan, Series, SeriesReference } from '../../index.js';
import { type LeftOut, type Sample, why } from '../../inspect/index.js';
import { type Listed, nameOf, type WhyAnswer, type WhyPart, type WhyStage } from './protocol.js';

/** How many samples of a long list are shown at its start, and as many at its end. */
const SHOWN = 8;

/** How a result came about, cut to what is shown. */
export function whyAnswer(
  plan: Plan,
  inputs: readonly Series[],
  pointers: readonly string[],
  of: SeriesReference,
  timeMs: number,
): WhyAnswer {
  const told = why(plan, inputs, of, timeMs);
  const steps = told.steps.map(({ operation, does, output, results, window, inputs: read, pointer, isProved }) => {
    const parts = read.flatMap(({ series, used, leftOut }) => [
      partOf('used', series, used, () => ''),
      partOf('dropped', series, leftOut, ({ reason }: LeftOut) => reason),
    ]);
    return {
      title: `${operation}: ${does}`,
      pointer: pointers[Number(pointer.split('/')[1])] ?? pointer,
      ...(window === undefined ? {} : { window }),
      parts: [partOf('gave', output, results, () => ''), ...parts.filter(isFilled)],
      isProved,
    };
  });
  const sources = told.sources.map(({ series, used, leftOut }): WhyStage => {
    const parts = [
      partOf('used', series, used, ({ position }) => placeText(position)),
      partOf('left out', series, leftOut, ({ position, reason }) => `${placeText(position)}: ${reason}`),
    ];
    return { title: `Input ${nameOf(series)}`, parts: parts.filter(isFilled), isProved: true };
  });
  return { ...of, timeMs, value: told.value, stages: [...steps, ...sources] };
}

function placeText(position: number): string {
  return `sample ${(position + 1).toLocaleString('en-US')}`;
}

function isFilled({ what, samples }: WhyPart): boolean {
  return what === 'used' || samples.count > 0;
}

function partOf<Of extends Sample>(
  what: string,
  { timeseriesId, metric }: SeriesReference,
  samples: readonly Of[],
  noteOf: (sample: Of) => string,
): WhyPart {
  const shown = (some: readonly Of[]) =>
    some.map((sample) => ({ timeMs: sample.timeMs, value: sample.value, note: noteOf(sample) }));
  const isLong = samples.length > 2 * SHOWN + 1;
  const listed: Listed<WhyPart['samples']['first'][number]> = {
    count: samples.length,
    first: shown(isLong ? samples.slice(0, SHOWN) : samples),
    last: shown(isLong ? samples.slice(-SHOWN) : []),
  };
  return { what, timeseriesId, metric, samples: listed };
}
