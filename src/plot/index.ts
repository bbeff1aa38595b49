// Charts of series, as SVG and as characters.
export { type ChartData, createChartData } from './chart.js';
export { drawSvg } from './svg.js';
export { drawTerminal } from './terminal.js';
