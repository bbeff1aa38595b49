import ts from 'typescript';
import { breachesIn, filesUnder, type Law } from './law.js';

const LINE_LENGTH_MAX = 120;
const FUNCTION_LINES_END = 70;
const FILE_LINES_MEDIAN_END = 120;
const FILE_LINES_P90_END = 300;

export const shortFunctions: Law = {
  title: `a function has fewer than ${FUNCTION_LINES_END} lines`,
  fix: 'Give the steps names: what has an idea of its own goes out, below the function that tells the story.',
  breaches: (files) =>
    filesUnder(files, 'src', 'scripts').flatMap((file) =>
      breachesIn(file, (node) => {
        if (!ts.isFunctionLike(node)) return undefined;
        const lineCount = node.getText().split('\n').length;
        return lineCount < FUNCTION_LINES_END ? undefined : `a function of ${lineCount} lines`;
      }),
    ),
};

export const shortLines: Law = {
  title: `a line has at most ${LINE_LENGTH_MAX} characters`,
  fix: 'Break it; `npm run format` does most of it. A line that is hard to break wants a name for a part of it.',
  breaches: (files) =>
    filesUnder(files, 'src', 'scripts', 'test').flatMap(({ path, text }) =>
      text
        .split('\n')
        .map((line, index) => ({ length: line.length, number: index + 1 }))
        .filter(({ length }) => length > LINE_LENGTH_MAX)
        .map(({ length, number }) => `${path}:${number} has ${length} characters`),
    ),
};

export const shortFiles: Law = {
  title: `files of src: median under ${FILE_LINES_MEDIAN_END} lines, 90th percentile under ${FILE_LINES_P90_END}`,
  fix: 'A file is one idea. Cut the longest where a second idea begins, and name the new file after it.',
  breaches: (files) => {
    const sizes = filesUnder(files, 'src')
      .map(({ path, text }) => ({ path, lineCount: text.trimEnd().split('\n').length }))
      .sort((a, b) => a.lineCount - b.lineCount);
    const at = (share: number): number => sizes[Math.ceil(share * sizes.length) - 1]?.lineCount ?? 0;
    const longest = sizes.slice(-5).map(({ path, lineCount }) => `${path} ${lineCount}`);
    return [
      ...(at(0.5) < FILE_LINES_MEDIAN_END ? [] : [`the median file has ${at(0.5)} lines`]),
      ...(at(0.9) < FILE_LINES_P90_END ? [] : [`the 90th percentile is ${at(0.9)} lines: ${longest.join(', ')}`]),
    ];
  },
};

export const namedExports: Law = {
  title: 'src has named exports alone',
  fix: 'Export it by its name, so that it has one name everywhere.',
  breaches: (files) =>
    filesUnder(files, 'src').flatMap((file) =>
      breachesIn(file, (node) => (isDefaultExport(node) ? 'is a default export' : undefined)),
    ),
};

function isDefaultExport(node: ts.Node): boolean {
  if (ts.isExportAssignment(node)) return true;
  if (ts.isExportSpecifier(node)) return node.name.text === 'default';
  return ts.canHaveModifiers(node) && (ts.getModifiers(node) ?? []).some(({ kind }) => kind === DEFAULT);
}

const DEFAULT = ts.SyntaxKind.DefaultKeyword;

export const filesSayWhatTheyAre: Law = {
  title: 'no file or folder is named utils, helpers, common or manager',
  fix: 'Name it after what it does; what it does for one caller alone belongs beside that caller.',
  breaches: (files) =>
    filesUnder(files, 'src', 'scripts', 'test')
      .filter(({ path }) => path.split(/[/._-]/).some((word) => /^(utils?|helpers?|common|managers?)$/i.test(word)))
      .map(({ path }) => path),
};

export const noAny: Law = {
  title: '`any` is nowhere',
  fix: 'Take `unknown` and check it, or say what it is.',
  breaches: (files) =>
    filesUnder(files, 'src', 'test')
      // A file without the word need not be parsed.
      .filter(({ path, text }) => /\.tsx?$/.test(path) && /\bany\b/.test(text))
      .flatMap((file) =>
        breachesIn(file, (node) => (node.kind === ts.SyntaxKind.AnyKeyword ? 'says `any`' : undefined)),
      ),
};
