// Parts of Preact and uPlot that the page does not use. No bundler finds them, as both libraries decide while they run.
// `build-workbench.mjs` leaves them out, and the build ends if one of them is not found any more. It does not notice if
// the page uses one after all: the tests of the page do.

// Of uPlot the page uses lines over axes that it labels itself: no bars, splines, bands, logarithms, dates, focus,
// synchronised charts, legend or ranges of its own. uPlot is one large function, in which no bundler sees that.
const FUNCTIONS_OF_UPLOT = {
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
};
// What it asks about charts that the page does not draw has one answer, by which the bundler leaves out what follows.
// Where nothing asks, as before synchronising charts and taking plugins, the code itself is cut out.
const ANSWERS_OF_UPLOT = [
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
];

// The page has function components alone: no classes, portals, error boundaries, hydration, suspense, MathML, default
// values, devtools or refs that are functions.
const HYDRATION_OF_PREACT = [/^\t+(?:isHydrating|excessDomChildren|oldVNode\._flags & MODE_HYDRATE.*),\n/gm, ''];
const PORTALS_OF_PREACT = [/\b(?:(?:parentVNode|vnode)\.props|newProps)\._parentDom\b(?! =|;)/g, 'false'];
const HOOKS_FOR_TOOLS = [/^\t*if \((?:options\.(?:vnode|_root|_hook)|old[A-Z]\w+)\) (?:\{[^}]*\}|.*)$/gm, ''];
const PREACT = {
  'src/component': {
    answers: [
      HYDRATION_OF_PREACT,
      PORTALS_OF_PREACT,
      HOOKS_FOR_TOOLS,
      [
        /(?<=setState = function )\(update, callback\) \{[\s\S]*?^\};$/m,
        '() { if (this._vnode) enqueueRender(this); };',
      ],
      [/^BaseComponent\.prototype\.(?:forceUpdate = [\s\S]*?^\};$|render = Fragment;$)/gm, ''],
      [/ \|\|\n\t\tprevDebounce != options\.debounceRendering|^\t*prevDebounce = .*$|\bprevDebounce \|\| /gm, ''],
    ],
  },
  'src/create-context': {
    answers: [[/^\tContext\.Consumer = [\s\S]*?^\t\};$|\bContext\.Consumer\.contextType = /gm, '']],
  },
  'src/create-element': { answers: [[/^\tif \(!original && options\.vnode\).*$/m, '']] },
  'src/render': {
    answers: [
      HYDRATION_OF_PREACT,
      HOOKS_FOR_TOOLS,
      [/^\t\toldVNode\n\t\t\t\? NULL\n[^,]*,$/m, ''],
      [/\bisHydrating \? NULL : |^\tlet isHydrating .*$/gm, ''],
    ],
  },
  'src/diff/catch-error': { functions: { _catchError: 'resetRenderCount(); throw error;' }, answers: [] },
  'src/diff/children': {
    answers: [
      HYDRATION_OF_PREACT,
      PORTALS_OF_PREACT,
      [/ \|\| oldVNode\._flags & REF_DETACHED/g, ''],
      [
        /\b(?:next|oldDom)\.nodeType == 8|\btypeof childVNode == 'function'|\bchildVNode\.constructor === String/g,
        'false',
      ],
      [/^\twhile \(\n\t\t\(oldDom = (.*)\) &&[^;]*\);$/m, '\toldDom = $1;'],
    ],
  },
  'src/diff/index': {
    functions: { applyRef: 'ref.current = value;', doRender: '' },
    answers: [
      HYDRATION_OF_PREACT,
      PORTALS_OF_PREACT,
      // Hydration and suspense.
      [/^\tif \(\n\t\toldVNode\._flags & MODE_SUSPENDED[\s\S]*?^\t\}$|^\t+if \(resumed\).*$|^.* &= RESET_MODE;$/gm, ''],
      [/^\t+excessDomChildren =[^;]*;$|^\t+isHydrating = .*$/gm, ''],
      [/(?<!\.)\b(?:isHydrating|excessDomChildren)\b/g, 'false'],
      [/\be && e\.then\b/g, 'false'],
      [/^\tif \(\n\t\t!skipRemove &&[\s\S]*?^\t\}$/m, ''],
      // Error boundaries.
      [/\bc\._bits & COMPONENT_(?:PENDING_ERROR|PROCESSING_EXCEPTION)\b/g, 'false'],
      // Classes, which have a state.
      [/^\t+const isClassComponent = .*$/m, ''],
      [/\bisClassComponent\b|\bc\.componentWillUpdate\b(?=\))/g, 'false'],
      [/^\t+(?:if \(!c\.state\) )?c\.(?:state|_stateCallbacks) = .*;$|^\t+EMPTY_ARR\.push\..*$/gm, ''],
      [/\bc\.render\(c\.props, .*\)/, 'c.constructor(c.props)'],
      [/^\t+c\.render = doRender;$|\boldState = c\.state;/gm, ''],
      // Consumers of contexts that are components.
      [/^\t+tmp = newType\.contextType;\n[\s\S]*?\n\n/m, 'const componentContext = globalContext;'],
      [/^\t+if \(provider\).*$/m, ''],
      // Other kinds of elements.
      [/^\t+if \(\n\t+nodeType == 'foreignObject'[\s\S]*?^\t+\}$|^\telse if \(nodeType == 'math'\) .*$/gm, ''],
      [
        /\bparentDom\.ownerDocument \|\| |\(nodeType == 'template' && dom\.content\) \|\| |,\n\t+newProps\.is \?.*$/gm,
        '',
      ],
      [/'default(?:Value|Checked)' in newProps/g, 'false'],
    ],
  },
  'src/diff/props': {
    answers: [
      [/\btypeof (?:v|oldV)alue == 'string'/g, 'false'],
      [/^.*\b(?:useCapture = |let useCapture).*$|, useCapture\b/gm, ''],
      [/\bname == 'popover' && value == true \? '' : /g, ''],
      [/^\t+name != '(?:popover|rowSpan|colSpan|form)' &&$/gm, ''],
      [/^\t+name = name\.replace\(\/xlink.*$/m, ''],
      [/options\.event \? options\.event\(e\) : /, ''],
    ],
  },
  'hooks/src/index': {
    answers: [
      HOOKS_FOR_TOOLS,
      [/^let old[A-Z]\w+ = .*$|^options\._root = [\s\S]*?^\};$|^\t*(?:let )?currentHook = .*$/gm, ''],
      [/!options\._skipEffects && |\bprevRaf \|\| |^\t+prevRaf = .*$| \|\| prevRaf != options\.\w+/gm, ''],
      [/\bHAS_RAF\b(?! =)/g, 'true'],
      [/^\t+if \(errorParent === undefined\) \{[\s\S]*?^\t{5}\}$/m, ''],
      [/\boptions\._catchError\(e, \{.*\}\)/, 'options._catchError(e)'],
      [/\bhookState\._component\.setState\(\{\}\)/, 'hookState._component.setState()'],
      [/\bprevScu\b(?! =|\.)/, 'false'],
    ],
  },
};

/** By the end of a file's path: the functions with a shorter body, and what its questions are answered with. */
export const UNUSED_OF_LIBRARIES = {
  'uPlot.esm.js': { functions: FUNCTIONS_OF_UPLOT, answers: ANSWERS_OF_UPLOT },
  ...Object.fromEntries(Object.entries(PREACT).map(([name, edits]) => [`preact/${name}.js`, edits])),
};

/** The text of a library's file without what the page does not use. */
export function withoutUnusedParts(text, { functions = {}, answers }, file) {
  const shorter = Object.entries(functions).reduce((left, [name, body]) => {
    const lines = new RegExp(`^(\\t*)((?:export )?function ${name}\\(.*\\) \\{)$[^]*?^\\1\\}$`, 'm');
    if (!lines.test(left)) throw new Error(`${file} has no function ${name} any more`);
    return left.replace(lines, (_, indent, head) => `${indent}${head}${body}}`);
  }, text);
  return answers.reduce((left, [question, answer]) => {
    if (left.search(question) < 0) throw new Error(`${file} asks nothing like ${question} any more`);
    return left.replace(question, answer);
  }, shorter);
}
