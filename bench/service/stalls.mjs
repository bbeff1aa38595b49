// How long the event loop of this process stands still.

const SAMPLED_MS = 5;

/** @returns an `end` that stops the watch and returns the longest stall in milliseconds. */
export function watchStalls() {
  let lastMs = performance.now();
  let longestMs = 0;
  const timer = setInterval(() => {
    longestMs = Math.max(longestMs, performance.now() - lastMs - SAMPLED_MS);
    lastMs = performance.now();
  }, SAMPLED_MS);
  return {
    end: () => {
      clearInterval(timer);
      return longestMs;
    },
  };
}
