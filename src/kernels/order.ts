/** Order statistics: the value of a rank, without sorting all values. */

/** After this many passes of bad pivots the column is sorted, so no input costs more than O(n log n). */
const PASSES_MAX = 16;

/**
 * Reorders the values so that the one of `rank` is where it would be if they were sorted, none above it before it and
 * none below it after it (Hoare, "Algorithm 65: FIND", 1961). Zeros of either sign are equal.
 *
 * @param value numbers in any order; they are reordered.
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
      // No value is below the pivot.
      middle = moveForward(value, left, right, pivot, true);
      if (rank < middle) return;
      left = middle;
    }
  }
}

// Moves the values below the pivot (with `isUpTo` also those equal to it) to the front and returns where they end.
// Every value is swapped, without a branch, which would be mispredicted every other time.
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
 * A function that finds the value of a rank, as in a sorted column (-0 before 0). The rank after the last one found
 * costs only one pass.
 *
 * @param value numbers in any order; they are reordered.
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
