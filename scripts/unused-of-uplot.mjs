// What the page does not use of uPlot: it draws lines over axes that it labels itself, so no bars, splines, bands,
// logarithms, dates, focus, synchronised charts, legend or ranges of its own. uPlot is one large function, in which no
// bundler sees that. `build-workbench.mjs` leaves these parts out, and the build ends if one of them is not found any
// more. It does not notice if the page uses one after all: the tests of the page do.

/** Functions by their shorter bodies. */
const FUNCTIONS = {
  ...Object.fromEntries(
    ['bars', 'findColWidth', 'splineInterp', 'monotoneCubic', '_monotoneCubic', 'clipBandLine', 'rangeLog']
      .concat(['rangeAsinh', 'logAxisSplits', 'asinhAxisSplits', 'log10AxisValsFilt', 'log2AxisValsFilt', 'fmtDate'])
      .concat(['tzDate', 'timeAxisStamps', 'timeAxisVals', 'timeAxisVal', 'timeSeriesStamp', 'timeSeriesVal'])
      .concat(['initLegendRow', 'setLegendValues', 'syncLegend', 'toggleDOM', 'addSeries', 'delSeries'])
      .concat(['setSeries', 'setFocus', 'pubSync', '_rangeNum', 'addBand', 'setBand', 'batch'])
      .concat(['sortCols', 'legendStroke', 'legendFill', 'snapNumY', 'numSeriesVal', 'delBand', 'pub'])
      .concat(['numAxisVals', 'numAxisSplits'])
      .map((name) => [name, '']),
  ),
  isAsc: 'return true',
  allHeadersSame: 'return false',
  bandFillClipDirs: 'return [0, 0]',
  fillStroke: 'strokeFill(...[...arguments].slice(1))',
  // A chart begins without data, and is told the range of its times.
  autoScaleX: 'viaAutoScaleX = true; i0 = i1 = idxs[0] = idxs[1] = null; _setScale(xScaleKey, null, null)',
  // Hooks are called at once, and lines lie on whole pixels.
  fire: 'hooks[evName]?.forEach((hook) => hook.call(null, self, a1, a2));',
  flushHooks: '',
  pxRoundGen: 'return round;',
  incrRound: 'return round(num / incr) * incr;',
  getIncrSpace: 'return (axes[axisIdx]._found = fullDim <= 0 ? [0, 0] : [1, 1]);',
  // The table below the chart is its legend.
  setLegend: 'shouldSetLegend = false;',
  seriesFillTo: '',
  genTimeStuffs: '',
  // Times run to the right, values upwards.
  orient:
    'const [x, y] = [u.series[0], u.series[seriesIdx]], { left, top, width, height } = u.bbox; ' +
    'return cb(y, u._data[0], u._data[seriesIdx], u.scales[x.scale], u.scales[y.scale], ' +
    'u.valToPosH, u.valToPosV, left, top, width, height);',
  rect: 'return (p, x, y, w, h) => p.rect(x, y, w, h);',
  getMinMax:
    'let lo = inf, hi = -inf; ' +
    'for (let i = _i0; i <= _i1; i++) if (data[i] != null) { lo = min(lo, data[i]); hi = max(hi, data[i]); } ' +
    'return [lo, hi];',
  closestIdx:
    'lo ||= 0; hi ||= arr.length - 1; ' +
    'while (hi - lo > 1) { let mid = (lo + hi) >> 1; if (arr[mid] < num) lo = mid; else hi = mid; } ' +
    'return num - arr[lo] <= arr[hi] - num ? lo : hi;',
  // The browser sees itself what has not changed.
  addClass: 'c && el.classList.add(c);',
  remClass: 'el.classList.remove(c);',
  elTrans:
    'el.style.transform = "translate(" + xPos + "px," + yPos + "px)"; ' +
    'el.classList.toggle(OFF, xPos < 0 || yPos < 0 || xPos > xMax || yPos > yMax);',
  elColor: 'el.style.background = background; el.style.borderColor = borderColor;',
  elSize:
    'setStylePx(el, HEIGHT, newHgt); setStylePx(el, WIDTH, newWid); ' +
    'setStylePx(el, "marginLeft", -newWid / 2); setStylePx(el, "marginTop", -newHgt / 2);',
};
// What it asks about charts that the page does not draw has one answer, by which the bundler leaves out what follows.
// Where nothing asks, as before synchronising charts and taking plugins, the code itself is cut out.
const ANSWERS = [
  [/^\tconst seriesIdxMatcher = [\s\S]*?^\tconst sync = _sync\(syncKey\);$|^\t+sync\.(?:un)?sub\(self\);$/gm, ''],
  [/^\t\(opts\.plugins \|\| \[\]\)\.forEach\([\s\S]*?^\t\}\);$/gm, ''],
  [/\b_pub && syncOpts\.setSeries\b/g, 'false'],
  [/\bmode == 2\b|\bsyncKey != null|\b\w+\.distr == (?:2|3|4|100)\b|\b\w+\.distr >= 3\b/g, 'false'],
  [
    /\bsrc != null|\bscaleX\.ori == 1\b|\bcursor\.dataIdx == null|\blegend\.live|\buni != null|\bhCursor(?= &&)/g,
    'false',
  ],
  [/\bmode == 1\b|\b\w+\.distr == 1\b|\b(?:sx|scaleX)\.ori == 0\b|\bsrc == null/g, 'true'],
  [/(?<!(?:const|let) )\b(?:showLegend|multiValLegend|cursorFocus|FEAT_TIME)\b(?! +=)/g, 'false'],
  [/\bopts\.(?:title|plugins|bands)\b/g, 'undefined'],
  [/\b(?:cursor\.dataIdx|axis\.label|series\.fill|getBBox|opts\.id|(?:w?sc|scaleOpts)\.from) != null/g, 'false'],
  [/\b(?:axis\.label|w?sc\.from) == null|\be != null|\b(?:\w+\.)?dir == 1\b|\bendRad == 0 && baseRad == 0/g, 'true'],
  [/\bxScaleDistr == [234]\b|\bband(?:Fill|Clip)Dir != 0|\b(?:\w+\.)?dir == -1\b|\bis(?:Obj\(rn|Str\(sv)\)/g, 'false'],
  [/\b\w+Path instanceof Map\b|(?<=\bif \()bandClip(?=\))/g, 'false'],
  [/\b(?:drag\.(?:y|setScale)|cursor\.(?:y|_?lock)|legend\.show|isTime|rangeIsArr)\b(?! =)/g, 'false'],
  [/(?<!(?:const|let) )\b(?:showCursor|select\.show)\b(?! =)/g, 'true'],
  [/\bborder\.show\b|\baxis\.align(?:To)? == [12]|(?<!\.)\bdistr == (?:3|4|100)\b|\bshouldAlpha\b(?! =)/g, 'false'],
  [/(?<!let )\bangle\b(?! +=)/g, '0'],
  [/^\s*uPlot\.(?:assign|fmtNum|range(?:Num|Log|Asinh)|orient|fmtDate|tzDate|sync|addGap|clipGaps) += .*;$/gm, ''],
  [/^const (?:(?:month|day)s3?|engNames|localTz|numFormatter|fmtNum) += [^;]*;$/gm, ''],
  // The page says where ticks are, in which zone.
  [/^const (?:allMults|\w+Incrs|onlyWhole|\[ timeIncrs\w+,[^\]]*\]) += .*;$|^genIncrs\(.*$/gm, ''],
  [/^\t\t\tif \(isArr\(axis\.incrs\)\) \{[\s\S]*?^\t{3}\}$|^\t\t\taxis\.incrs += .*$/gm, ''],
  [/^\tconst (?:_tzDate|_time\w+|legend|markers) += .*$|^\tconst bands += [\s\S]*?^\t\}\);$/gm, ''],
  [/^\t+(?:legend\.idxs?|markers\.\w+) += .*$|^\tself\.(?:batch|\w+Series|\w+Band|setLegend|pub) = \w+;$/gm, ''],
  [/^\tconst focus = .*$|^\t{3}let shouldAlpha = .*$|^\t\((?:paths\.(?:bars|spline)) .*$/gm, ''],
  [/(?<!let )\bdragY\b(?! =)|\bdrag\._y\b(?! =)/g, 'false'],
  // Only these hooks are listened to, and no other chart is.
  [/^\t+fire\("(?!drawClear|setSelect|setCursor)\w+"[^;]*\);$/gm, ''],
  [/^\tconst events = \{\};$|^\tevents\.\w+ = \w+;$|^\tevents\["setSeries"\] = [\s\S]*?^\t\};$/gm, ''],
  [/^\tObject\.defineProperty\(self, 'rect', [\s\S]*?^\t\}\);$/gm, ''],
  [/^\t(?:focus|hover): \{[\s\S]*?^\t\},$/gm, ''],
  // Every axis and line says how it looks.
  [/(?<=^const font {6}= ).*(?=;$)/gm, "''"],
  [/^\t+axis\.(?:labelFont|border\.stroke) += .*$|^\t+sc\.clamp = .*$/gm, ''],
  [/\[axis\.font, axis\.labelFont\]/g, '[axis.font]'],
  [/(?<=\bconst (?:ascDesc|extend) = ).*(?=;$)/gm, 'false'],
  [/(?<=\bconst (?:align|pxAlign) = ).*(?=;$)/gm, '1'],
  [/(?<=\bconst alignGaps = ).*(?=;$)/gm, '0'],
];

/** The text of uPlot without what the page does not use. */
export function withoutUnusedOfUplot(text) {
  const shorter = Object.entries(FUNCTIONS).reduce((left, [name, body]) => {
    const lines = new RegExp(`^(\\t*)(function ${name}\\(.*\\) \\{)$[^]*?^\\1\\}$`, 'm');
    if (!lines.test(left)) throw new Error(`uPlot has no function ${name} any more`);
    return left.replace(lines, (_, indent, head) => `${indent}${head}${body}}`);
  }, text);
  return ANSWERS.reduce((left, [question, answer]) => {
    if (left.search(question) < 0) throw new Error(`uPlot asks nothing like ${question} any more`);
    return left.replace(question, answer);
  }, shorter);
}
