import { unlessMissing } from '../failure.js';
import type { Outlet } from '../terminal/io.js';

const NAMES = ['blueBright', 'yellow', 'green', 'magenta', 'red', 'cyan', 'gray'] as const;

/** Colours for the lines of a chart; none where the outlet is no terminal, or NO_COLOR is set. */
export async function linePaint(outlet: Outlet): Promise<((text: string, lineIndex: number) => string) | undefined> {
  if (!outlet.isTerminal) return undefined;
  const loaded = await import('picocolors').catch(unlessMissing);
  if (loaded === undefined || !loaded.default.isColorSupported) return undefined;
  return (text, lineIndex) => loaded.default[NAMES[lineIndex % NAMES.length] ?? 'gray'](text);
}
