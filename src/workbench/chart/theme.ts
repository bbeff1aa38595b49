import { palette } from '../../plot/style.js';

export type Theme = 'auto' | 'light' | 'dark';

/** Whether the page is shown dark. */
function isDark(): boolean {
  const { theme } = document.documentElement.dataset;
  return theme === 'dark' || (theme !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches);
}

/** The colour of a line in the page's theme. */
export function lineColour(index: number): string {
  const colour = palette[index % palette.length]!;
  return isDark() ? colour.dark : colour.light;
}

/** Colours of the style sheet, for drawings that cannot use CSS variables. */
export function pageColours() {
  const probe = document.body.appendChild(document.createElement('span'));
  const [background, text, grid] = ['--surface', '--faint', '--line'].map((name) => {
    probe.style.color = `var(${name})`;
    return getComputedStyle(probe).color;
  });
  probe.remove();
  return { background: background!, text: text!, grid: grid! };
}

/** Sets the CSS variables for the colours of lines. */
export function setLineColours(): void {
  for (const index of palette.keys()) document.documentElement.style.setProperty(`--c${index}`, lineColour(index));
}

export function colourVariable(index: number): string {
  return `var(--c${index % palette.length})`;
}

/** Calls `change` when the theme changes. */
export function onThemeChange(change: () => void): () => void {
  const media = matchMedia('(prefers-color-scheme: dark)');
  const observer = new MutationObserver(change);
  observer.observe(document.documentElement, { attributeFilter: ['data-theme'] });
  media.addEventListener('change', change);
  return () => {
    observer.disconnect();
    media.removeEventListener('change', change);
  };
}
