/**
 * The name among `names` that `text` was most likely meant to be, or undefined when none is near.
 * Near means at most a third of the length in edits (insert, delete, replace, swap neighbours), and at least one.
 */
export function nearestName(text: string, names: Iterable<string>): string | undefined {
  const wanted = text.toLowerCase();
  // Between equally near names prefer one with the same first letter: people rarely mistype that.
  const isAlike = (name: string | undefined): boolean => name === undefined || name[0]?.toLowerCase() === wanted[0];
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(wanted.length / 3)) + 1;
  for (const name of names) {
    const distance = editDistance(wanted, name.toLowerCase(), bestDistance + 1);
    const isNearer = distance < bestDistance || (distance === bestDistance && isAlike(name) && !isAlike(best));
    if (isNearer) {
      best = name;
      bestDistance = distance;
    }
  }
  return best;
}

/** Names from pandas, Polars, SQL and Flux, in lower case, with the name that the same thing has here. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  avg: 'Average',
  bfill: 'Fill',
  bucket: 'Aggregate',
  ceiling: 'Ceil',
  clip: 'Clamp',
  cumsum: 'CumulativeSum',
  diff: 'Difference',
  divide: 'Div',
  downsample: 'Downsample',
  equal: 'Eq',
  ema: 'ExponentialAverage',
  ewm: 'ExponentialAverage',
  ffill: 'HoldLastValue',
  fillna: 'Fill',
  filter: 'Where',
  groupby: 'Aggregate',
  integrate: 'Integral',
  interpolate: 'Resample',
  lag: 'Shift',
  lead: 'Shift',
  locf: 'HoldLastValue',
  maximum: 'Max',
  mean: 'Average',
  minimum: 'Min',
  minus: 'Sub',
  modulo: 'Mod',
  multiply: 'Mul',
  plus: 'Add',
  power: 'Pow',
  quantile: 'Percentile',
  rolling: 'MovingAverage',
  rollingaverage: 'MovingAverage',
  rollingmean: 'MovingAverage',
  size: 'Count',
  spread: 'Range',
  std: 'StandardDeviation',
  stddev: 'StandardDeviation',
  stdev: 'StandardDeviation',
  subtract: 'Sub',
  timebucket: 'Aggregate',
  total: 'Sum',
  twa: 'TimeWeightedAverage',
  var: 'Variance',
};

/**
 * "did you mean `Average`?", if a name is near `text` or is what other tools call by it; undefined otherwise.
 * `functions` are names of functions of Aggregate, suggested as such unless they are in `names` too.
 */
export function didYouMean(
  text: string,
  names: Iterable<string>,
  functions: readonly string[] = [],
): string | undefined {
  const own = [...names];
  const known = [...own, ...functions];
  const meant = OTHER_NAMES[text.toLowerCase().replace(/[^a-z]/g, '')];
  const name = meant !== undefined && known.includes(meant) ? meant : nearestName(text, known);
  return name && `did you mean ${own.includes(name) ? '' : 'Aggregate with the function '}\`${name}\`?`;
}

// Optimal string alignment (Damerau-Levenshtein without repeated edits of a part), three rows at a time.
function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) >= limit) return limit;
  let twoAbove: number[] = [];
  let above = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      let edits = Math.min((above[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (above[j - 1] ?? 0) + cost);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        edits = Math.min(edits, (twoAbove[j - 2] ?? 0) + 1);
      }
      row.push(edits);
    }
    twoAbove = above;
    above = row;
  }
  return above[b.length] ?? limit;
}
