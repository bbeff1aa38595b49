/** The style of a chart, for light backgrounds and, where the reader prefers them, for dark ones. */
export function styleSheet(): string {
  return [
    // No `font`: the renderer of PNG does not know it.
    "text{font-size:12px;font-family:system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif}",
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

/** What a graph needs beside the style of a chart. */
export function graphStyle(): string {
  const ofTheme = ({ background, grid, axis }: (typeof theme)['light' | 'dark']): string =>
    `.edge,.box{stroke:${axis}}.box{fill:${background}}.box.source{fill:${grid}}`;
  const shapes = '.edge{fill:none;stroke-width:1.4}.box.result{stroke-width:2}.strong{font-weight:600}';
  return `${shapes}${ofTheme(theme.light)}@media(prefers-color-scheme:dark){${ofTheme(theme.dark)}}`;
}

function colours(name: 'light' | 'dark'): string {
  const { background, text, faint, grid, axis } = theme[name];
  return [
    `.background{fill:${background}}text{fill:${text}}.faint{fill:${faint}}`,
    `.grid{stroke:${grid}}.axis{stroke:${axis}}`,
    ...palette.map((colour, index) => `.c${index}{stroke:${colour[name]}}`),
  ].join('');
}

/**
 * Colours for lines, each for light and for dark backgrounds. They follow the palette of Okabe and Ito, which
 * people of every kind of colour vision can tell apart, darkened or lightened until each stands out (contrast of
 * at least 3 to 1).
 */
export const palette: readonly { readonly light: string; readonly dark: string }[] = [
  { light: '#0069aa', dark: '#58a6e0' }, // blue
  { light: '#c75000', dark: '#f0853d' }, // vermilion
  { light: '#00805c', dark: '#2fbf95' }, // green
  { light: '#a8508a', dark: '#dd93bf' }, // purple
  { light: '#8f6a00', dark: '#e9b13c' }, // amber
  { light: '#3b8ab0', dark: '#8fd0f5' }, // sky
  { light: '#5b5b5b', dark: '#b9bec5' }, // grey
];

/** Dash patterns tell lines apart once the colours are used up. */
export const dashes: readonly string[] = ['', '7 3', '2 3'];

const theme = {
  light: { background: '#ffffff', text: '#24292f', faint: '#57606a', grid: '#e4e8ec', axis: '#8c959f' },
  dark: { background: '#12161c', text: '#e6e9ec', faint: '#9aa4af', grid: '#2a3038', axis: '#6b7580' },
} as const;
