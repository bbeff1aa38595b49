import type { TimeRange } from '../engine/protocol.js';
import { zoomed } from './surface.js';

/** What keys do, and the buttons that stand for them. The handler returns whether a key does anything. */
export function keyActions(
  shown: { readonly current: TimeRange },
  move: (range: TimeRange) => void,
  reset: () => void,
  point: (timeMs: number) => void,
  cursorMs: number | undefined,
): (key: string) => boolean {
  const shift = (part: number) => () => {
    const { fromMs, untilMs } = shown.current;
    const byMs = (untilMs - fromMs) * part;
    move({ fromMs: fromMs + byMs, untilMs: untilMs + byMs });
  };
  const zoom = (ratio: number) => () => {
    const { fromMs, untilMs } = shown.current;
    move(zoomed(shown.current, ratio, (fromMs + untilMs) / 2));
  };
  const step = (part: number) => () => {
    const { fromMs, untilMs } = shown.current;
    const at = (cursorMs ?? (fromMs + untilMs) / 2) + (untilMs - fromMs) * part;
    point(Math.min(untilMs, Math.max(fromMs, at)));
  };
  const actions: Readonly<Record<string, () => void>> = {
    ArrowLeft: shift(-0.15),
    ArrowRight: shift(0.15),
    '+': zoom(1 / 1.5),
    '=': zoom(1 / 1.5),
    '-': zoom(1.5),
    '0': reset,
    Home: reset,
    ',': step(-0.01),
    '.': step(0.01),
  };
  return (key) => {
    actions[key]?.();
    return key in actions;
  };
}
