// Random choices that a seed repeats: mulberry32.

/** @param {number} seed */
export function createRandom(seed) {
  let state = seed | 0;
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    /** From 0 up to, not including, 1. */
    next,
    /** From 0 up to, not including, `end`. */
    below: (end) => Math.floor(next() * end),
    chance: (share) => next() < share,
    pick: (list) => list[Math.floor(next() * list.length)],
    /** Integers from 1 to 10 ** digits, each order of magnitude equally often. */
    size: (digits) => Math.max(1, Math.round(10 ** (digits * next()))),
    /** A generator that does not depend on how many numbers are drawn from this one. */
    fork: () => createRandom(Math.floor(next() * 2 ** 32)),
  };
}
