import fc from 'fast-check';
import { readOperations } from '../../../src/service/operations/request.js';
import type { Columns } from '../../../src/storage/samples/samples.js';
import { runWithin } from '../../laws/running.js';
import type { Samples } from '../../laws/samples.js';

/** Evenly within [0, 1]; `fc.double` would nearly always be close to 0. */
export const share = fc.nat(1000).map((permille) => permille / 1000);

/** The items of a drawn request over series `s0`, `s1`, …; a scene that makes too many samples is left out. */
export async function bodyOf(
  request: readonly unknown[],
  samples: readonly Columns[],
  processing: readonly string[],
): Promise<unknown[]> {
  const body = withKinds(request, processing);
  const { plan } = await readOperations(body);
  const inputs = plan.sources.map((one) => ({ ...one, ...samples[Number(one.timeseriesId.slice(1))]! }));
  fc.pre(runWithin(plan, inputs, { maxOutputSamples: 4000 }) !== undefined);
  return body;
}

// As streams or with these frequencies.
function withKinds(request: readonly unknown[], processing: readonly string[]): unknown[] {
  return request.map((item, index) => {
    const { frequency: _frequency, ...rest } = item as Record<string, unknown>;
    const kind = processing[index]!;
    return kind === 'stream'
      ? { ...rest, processingType: 'stream' }
      : { ...rest, processingType: 'Batch', frequency: kind };
  });
}

/** Samples as the store keeps them: each time once, in order, finite. */
export function cleaned({ timeMs, value: values }: Samples): Columns {
  const byTime = new Map([...timeMs].map((t, i) => [t, values[i]!] as const).filter(([, x]) => Number.isFinite(x)));
  const rising = [...byTime].sort(([a], [b]) => a - b);
  return { timeMs: Float64Array.from(rising, ([t]) => t), value: Float64Array.from(rising, ([, x]) => x) };
}
