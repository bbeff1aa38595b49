/** A line of a chart: points in time order, reduced to what can be seen. */
export interface ChartLine {
  readonly name: string;
  readonly timeMs: Float64Array;
  readonly value: Float64Array;
  /** 1 where there is a gap before the point. */
  readonly isAfterGap: Uint8Array;
  /** Of all samples, not only of the points kept. */
  readonly sampleCount: number;
  readonly min: number;
  readonly max: number;
  /** All values are 0 or 1: drawn as steps, not as slopes. */
  readonly isBinary: boolean;
}

/** A point in a place of the reader's own units. */
export interface Extent {
  readonly min: number;
  readonly max: number;
}

/** The least extent around all of the lines. */
export function extentOf(lines: readonly Extent[]): Extent {
  return {
    min: Math.min(...lines.map(({ min }) => min)),
    max: Math.max(...lines.map(({ max }) => max)),
  };
}

/** The first and the last instant of all lines that have points. */
export function timeExtentOf(lines: readonly ChartLine[]): Extent | undefined {
  const drawn = lines.filter(({ timeMs }) => timeMs.length > 0);
  if (drawn.length === 0) return undefined;
  const { min, max } = extentOf(
    drawn.map(({ timeMs }) => ({ min: timeMs[0] ?? 0, max: timeMs[timeMs.length - 1] ?? 0 })),
  );
  return min === max ? { min: min - 1000, max: max + 1000 } : { min, max };
}
