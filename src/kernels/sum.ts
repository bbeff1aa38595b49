/**
 * Compensated sums. `slots[at]` is the running sum and `slots[at + 1]` what rounding has lost so far; the
 * result is their sum. The loss of each addition is exact (Knuth's TwoSum, which has no branch to mispredict)
 * and added up as in Neumaier, "Rundungsfehleranalyse einiger Verfahren zur Summation endlicher Summen", 1974.
 * Near the largest double TwoSum can overflow on the way even if the sum does not; there Neumaier's own formula,
 * with its branch, gives the same loss.
 */

function neumaierLoss(sum: number, x: number, next: number): number {
  return Math.abs(sum) >= Math.abs(x) ? sum - next + x : x - next + sum;
}

/** Adds `value[from..to)` in order. */
export function sumInto(slots: Float64Array, at: number, value: Float64Array, from: number, to: number): void {
  let sum = slots[at]!;
  let lost = slots[at + 1]!;
  for (let i = from; i < to; i++) {
    const x = value[i]!;
    const next = sum + x;
    const part = next - sum;
    lost += sum - (next - part) + (x - part);
    sum = next;
  }
  if (lost - lost !== 0) {
    for (let i = from; i < to; i++) addInto(slots, at, value[i]!);
    return;
  }
  slots[at] = sum;
  slots[at + 1] = lost;
}

/** Adds one number. */
export function addInto(slots: Float64Array, at: number, x: number): void {
  const sum = slots[at]!;
  const next = sum + x;
  const part = next - sum;
  const loss = sum - (next - part) + (x - part);
  slots[at + 1] = slots[at + 1]! + (loss - loss === 0 ? loss : neumaierLoss(sum, x, next));
  slots[at] = next;
}

/** Adds the differences from `origin` and, to the sum at `at + 2`, their squares. */
export function sumDeviationsInto(
  slots: Float64Array,
  at: number,
  origin: number,
  value: Float64Array,
  from: number,
  to: number,
): void {
  for (let i = from; i < to; i++) {
    const deviation = value[i]! - origin;
    addInto(slots, at, deviation);
    addInto(slots, at + 2, deviation * deviation);
  }
}
