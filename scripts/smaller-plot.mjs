// uPlot without what the page never asks of it, which is two fifths of it: no bundler can tell, because uPlot decides
// by options. Each entry says what an option always is here, and what can go besides; the bundler then removes what
// nothing reaches. Each must be found, so that a new version of uPlot is looked at again.

/** One mode, linear scales that never run backwards, time from left to right, and axes that get their marks. */
const ALWAYS = [
  [/const mode = self\.mode;/, 'const mode = 1;'],
  [/\bmode == 2\b/g, 'false'],
  [/\blet isTime = .*;/g, 'const isTime = false;'],
  [/\b(\w+\.distr|xScaleDistr|distr) (== *(2|3|4|100)|>= 3)(?=\W)/g, 'false'],
  [/\bscaleX\.ori == 0/g, 'true'],
  [/\bscaleX\.ori == 1/g, 'false'],
  [/\b(sc|scale)\.dir == -1/g, 'false'],
];

/** The page has a legend of its own, no bands, nothing in focus, and one plot, which follows no other. */
const WITHOUT = [
  [/const showLegend = legend\.show;/, 'const showLegend = false;'],
  [/\blegend\.live\b/g, 'false'],
  [/const cursorFocus = .*;/, 'const cursorFocus = false;'],
  [/let bands = ifNull\(self\.bands, EMPTY_ARR\);/, 'let bands = [];'],
  [/const bands {3}= self\.bands {2}= .*;/, 'const bands = [];'],
  [/\bsrc == null\b/g, 'true'],
  [/\bsrc != null\b/g, 'false'],
  [/\be != null\b/g, 'true'],
  [/^\tevents\["setSeries"\] = [\s\S]*?^\t};/m, ''],
  [/^\tconst _time\w+ += .*;/gm, ''],
  [/^const \[ .* \] = genTimeStuffs\(.*\);/gm, ''],
  [/^\tself\.(addSeries|delSeries|setSeries|addBand|setBand|delBand|batch|pub|valToIdx|posToIdx) = .*;/gm, ''],
  [/^\t?uPlot\.(?!join|paths)\w+ +=.*;/gm, ''],
  [/^\t\(paths\.(linear|bars|spline) += \w+\);/gm, ''],
  [/^((?:const|let) \w+ += )(?=\w+(\.\w+)*\()/gm, '$1/* @__PURE__ */ '],
];

/** Functions that are called, to no effect here. */
const IDLE = ['pubSync', 'clipBandLine', 'syncLegend', 'initLegendRow', 'setSeries'];

export function smallerPlot(source) {
  const changes = [
    ...ALWAYS,
    ...WITHOUT,
    ...IDLE.map((name) => [new RegExp(`^(\\t?)function ${name}\\([^]*?^\\1}$`, 'm'), `$1function ${name}() {}`]),
  ];
  return changes.reduce((text, [pattern, by]) => replaced(text, pattern, by), source);
}

/** A text with what a pattern finds replaced; it must find something. */
export function replaced(before, pattern, by) {
  const after = before.replace(pattern, by);
  if (after === before) throw new Error(`there is nothing like ${pattern}: look at the library's new version`);
  return after;
}
