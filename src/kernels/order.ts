/** Order statistics: the value that stands at a rank when all are sorted, without sorting all. */

/** A range of up to so many is narrowed without looking at a sample of it first. */
const SAMPLED_MIN = 600;
/** Columns on which the choice goes wrong again and again are sorted: then no input costs more than n log n. */
const PASSES_MAX = 16;

/**
 * Moves the values so that the one of `rank` stands at its place as in a sorted column, none above it before and none
 * below it behind (Floyd and Rivest, "Algorithm 489: SELECT", 1975: about 1.5 n comparisons). A zero is not below
 * another, whatever their signs.
 *
 * @param value numbers, in any order; they are moved.
 * @param rank 0 to one below their count.
 */
export function selectRank(value: Float64Array, rank: number): void {
  if (!narrow(value, 0, value.length - 1, rank, PASSES_MAX * value.length)) value.sort();
}

/** @returns false where more than `budget` values were looked at. */
function narrow(value: Float64Array, from: number, to: number, rank: number, budget: number): boolean {
  let left = from;
  let right = to;
  let spent = 0;
  while (right > left) {
    const count = right - left + 1;
    spent += count;
    if (spent > budget) return false;
    if (count > SAMPLED_MIN) {
      // The ranks between which, in all likelihood, the value lies that is looked for; found among a sample.
      const size = 0.5 * Math.exp((2 * Math.log(count)) / 3);
      const spread = 0.5 * Math.sqrt((Math.log(count) * size * (count - size)) / count);
      const share = (rank - left + 1) / count;
      const lean = share < 0.5 ? -spread : spread;
      const low = Math.max(left, Math.floor(rank - share * size + lean));
      const high = Math.min(right, Math.floor(rank + (1 - share) * size + lean));
      if (!narrow(value, low, high, rank, budget)) return false;
    }
    const pivot = value[rank]!;
    let i = left;
    let j = right;
    while (i <= j) {
      while (value[i]! < pivot) i++;
      while (value[j]! > pivot) j--;
      if (i > j) break;
      const x = value[i]!;
      value[i++] = value[j]!;
      value[j--] = x;
    }
    // Between j and i all are equal to the pivot.
    if (rank <= j) right = j;
    else if (rank >= i) left = i;
    else return true;
  }
  return true;
}

/** The value of a rank as a sorted column has it, -0 before 0; `value` is moved as by `selectRank`. */
export function valueOfRank(value: Float64Array, rank: number): number {
  selectRank(value, rank);
  return signedZero(value, value[rank]!, rank);
}

/** The value of the next rank, after `valueOfRank`: the least of those behind it. */
export function nextOfRank(value: Float64Array, rank: number): number {
  let least = value[rank + 1]!;
  for (let i = rank + 2; i < value.length; i++) if (value[i]! < least) least = value[i]!;
  return signedZero(value, least, rank + 1);
}

function signedZero(value: Float64Array, x: number, rank: number): number {
  if (x !== 0) return x;
  let before = 0;
  for (let i = 0; i < value.length; i++) if (value[i]! < 0 || Object.is(value[i], -0)) before++;
  return rank < before ? -0 : 0;
}
