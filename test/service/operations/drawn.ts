import type { Columns } from '../../../src/storage/samples/samples.js';
import type { Samples } from '../../laws/samples.js';

/** The items of a drawn request, as streams or with these frequencies. */
export function withKinds(request: readonly unknown[], processing: readonly string[]): unknown[] {
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
