// Charts of series, as SVG and as characters.
export { ChartData } from './chart.js';
export { drawSvg } from './svg.js';
export { drawTerminal } from './terminal.js';
