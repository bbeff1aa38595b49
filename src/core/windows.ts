/**
 * A tiling of time: every instant lies in exactly one window `[start, end)`, and the end of a window
 * is the start of the next.
 */
export interface Windows {
  /** The start of the window that holds the instant. */
  startOf(timeMs: number): number;
  /** The start of the window after the one that starts at `startMs`. */
  next(startMs: number): number;
  /** The start of the window before the one that starts at `startMs`. */
  previous(startMs: number): number;
  /** The start of the window `count` windows away (either sign) from the one that starts at `startMs`. */
  step(startMs: number, count: number): number;
  /** The common length, if all windows have one and start at its multiples since the epoch. */
  readonly gridMs: number | undefined;
  /** No window is longer. */
  readonly lengthMsMax: number;
}

/** The first start of a window at or after an instant. */
export function firstStartFrom(windows: Windows, timeMs: number): number {
  const startMs = windows.startOf(timeMs);
  return startMs === timeMs ? startMs : windows.next(startMs);
}
