/** Order statistics: the value that stands at a rank when all are sorted, without sorting all. */

/** Columns on which the choice goes wrong again and again are sorted: then no input costs more than n log n. */
const PASSES_MAX = 16;

/**
 * Moves the values so that the one of `rank` stands at its place as in a sorted column, none above it before and none
 * below it behind (Hoare, "Algorithm 65: FIND", 1961). A zero is not below another, whatever their signs.
 *
 * @param value numbers, in any order; they are moved.
 * @param rank 0 to one below their count.
 */
function selectRank(value: Float64Array, rank: number): void {
  let left = 0;
  let right = value.length;
  for (let budget = PASSES_MAX * value.length; right - left > 1; budget -= right - left) {
    if (budget < 0) {
      value.sort();
      return;
    }
    const pivot = value[rank]!;
    let middle = moveForward(value, left, right, pivot, false);
    if (rank < middle) right = middle;
    else if (middle > left) left = middle;
    else {
      // None is below the pivot.
      middle = moveForward(value, left, right, pivot, true);
      if (rank < middle) return;
      left = middle;
    }
  }
}

// Moves the values below the pivot, or with `isUpTo` those equal to it too, to the front; returns where they end. Each
// is moved, without a branch: it would be mispredicted every other time.
function moveForward(value: Float64Array, from: number, to: number, pivot: number, isUpTo: boolean): number {
  let end = from;
  for (let i = from; i < to; i++) {
    const x = value[i]!;
    value[i] = value[end]!;
    value[end] = x;
    end += isUpTo ? +(x <= pivot) : +(x < pivot);
  }
  return end;
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
