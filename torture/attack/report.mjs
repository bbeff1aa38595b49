// The checks made, and whether they passed.

const failures = [];

export function check(what, isHeld, figure) {
  console.log(`  ${isHeld ? 'held  ' : 'FAILED'}  ${what}: ${figure}`);
  if (!isHeld) failures.push(`${what}: ${figure}`);
}

/** The exit code. */
export function reportAll() {
  console.log(failures.length === 0 ? '\nall held' : `\nfailed:\n  ${failures.join('\n  ')}`);
  return failures.length === 0 ? 0 : 1;
}
