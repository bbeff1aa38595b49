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
function selectRank(value: Float64Array, rank: number): void {
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

/**
 * The values by their rank, as a sorted column has them, -0 before 0. Each is found when it is asked for; the one after
 * the last asked for is found at once.
 *
 * @param value numbers, in any order; they are moved.
 */
export function byRank(value: Float64Array): (rank: number) => number {
  let placed = -1;
  return (rank) => {
    const isNext = placed >= 0 && rank === placed + 1;
    if (!isNext) selectRank(value, rank);
    const x = isNext ? leastFrom(value, rank) : value[rank]!;
    if (!isNext) placed = rank;
    return x === 0 ? signedZero(value, rank) : x;
  };
}

function leastFrom(value: Float64Array, from: number): number {
  let least = value[from]!;
  for (let i = from + 1; i < value.length; i++) if (value[i]! < least) least = value[i]!;
  return least;
}

function signedZero(value: Float64Array, rank: number): number {
  let before = 0;
  for (let i = 0; i < value.length; i++) if (value[i]! < 0 || Object.is(value[i], -0)) before++;
  return rank < before ? -0 : 0;
}
