// Copies the samples inside [lower, upper] (or outside it) to the out columns; gives their count.
// Every sample is written, and the place moves on only for those that stay: no branch to mispredict.
export function selectRange(time: usize, value: usize, count: i32, lower: f64, upper: f64, isInside: i32, outTime: usize, outValue: usize): i32 {
  let kept: usize = 0;
  const end = <usize>count << 3;
  for (let at: usize = 0; at < end; at += 8) {
    const x = f64.load(value + at);
    f64.store(outTime + kept, f64.load(time + at));
    f64.store(outValue + kept, x);
    kept += <usize>((i32(x >= lower) & i32(x <= upper)) == isInside) << 3;
  }
  return <i32>(kept >> 3);
}
