// @ts-ignore: decorator
@inline
function pair(low: usize, high: usize): v128 {
  return v128.load64_lane(high, v128.load64_zero(low), 1);
}

// The compensated sums of windows that follow each other in a column: window w holds the values from bounds[w] to
// bounds[w + 1] (32-bit indices). Two windows go side by side in the two lanes, each in its own time order.
export function sumWindows(value: usize, bounds: usize, windowCount: i32, result: usize): void {
  for (let w = 0; w < windowCount; w += 2) {
    const edge = bounds + (<usize>w << 2);
    const from = <usize>load<u32>(edge);
    const middle = <usize>load<u32>(edge, 4);
    const isPair = w + 1 < windowCount;
    const to = isPair ? <usize>load<u32>(edge, 8) : middle;
    const firstLength = middle - from;
    const secondLength = to - middle;
    const shared = firstLength < secondLength ? firstLength : secondLength;
    let low = value + (from << 3);
    let high = value + (middle << 3);
    let sum = f64x2.splat(0);
    let lost = f64x2.splat(0);
    const lowEnd = low + (shared << 3);
    while (low < lowEnd) {
      const x = pair(low, high);
      const next = f64x2.add(sum, x);
      const part = f64x2.sub(next, sum);
      lost = f64x2.add(lost, f64x2.add(f64x2.sub(sum, f64x2.sub(next, part)), f64x2.sub(x, part)));
      sum = next;
      low += 8;
      high += 8;
    }
    const out = result + (<usize>w << 3);
    f64.store(out, rest(low, value + (middle << 3), f64x2.extract_lane(sum, 0), f64x2.extract_lane(lost, 0)));
    if (isPair) {
      const second = rest(high, value + (to << 3), f64x2.extract_lane(sum, 1), f64x2.extract_lane(lost, 1));
      f64.store(out, second, 8);
    }
  }
}

function rest(from: usize, to: usize, sumBefore: f64, lostBefore: f64): f64 {
  let sum = sumBefore;
  let lost = lostBefore;
  for (let at = from; at < to; at += 8) {
    const x = f64.load(at);
    const next = sum + x;
    const part = next - sum;
    lost += sum - (next - part) + (x - part);
    sum = next;
  }
  return sum + lost;
}
