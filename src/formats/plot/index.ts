// Charts of series, as SVG and as characters.
export { type ChartData, createChartData } from './chart.js';
export type { ChartLine } from './line.js';
export { type ChartOptions, drawSvg } from './svg.js';
export { drawTerminal, type TerminalOptions } from './terminal.js';
