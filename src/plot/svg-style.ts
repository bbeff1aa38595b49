import { dashes, palette, theme } from './palette.js';

/** The style of a chart, for light backgrounds and, where the reader prefers them, for dark ones. */
export function styleSheet(): string {
  return [
    "text{font:12px system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif}",
    'text{font-variant-numeric:tabular-nums}',
    '.title{font-size:16px;font-weight:600}',
    '.value,.zone{text-anchor:end}.time{text-anchor:middle}.zone{font-size:11px}',
    '.grid,.axis,.line,.dot{fill:none}.line{stroke-width:1.6;stroke-linejoin:round;stroke-linecap:round}',
    '.thin .line{stroke-width:1}',
    '.dot{stroke-width:4;stroke-linecap:round}',
    ...dashes.map((dash, index) => (dash === '' ? '' : `.d${index} .line,.line.d${index}{stroke-dasharray:${dash}}`)),
    colours('light'),
    `@media(prefers-color-scheme:dark){${colours('dark')}}`,
  ].join('');
}

function colours(name: 'light' | 'dark'): string {
  const { background, text, faint, grid, axis } = theme[name];
  return [
    `.background{fill:${background}}text{fill:${text}}.faint{fill:${faint}}`,
    `.grid{stroke:${grid}}.axis{stroke:${axis}}`,
    ...palette.map((colour, index) => `.c${index}{stroke:${colour[name]}}`),
  ].join('');
}
