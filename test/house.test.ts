// The project's rules, each a function in test/house/ over all source files. The second half of this file feeds each
// rule a breach, so that no rule passes because it sees nothing.

import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { describe, expect, it } from 'vitest';
import { noImportCircles } from './house/circles.js';
import { importsRunOneWay, libraryLoadsNoTexts, neutralLayersImportNoPackage } from './house/imports.js';
import type { Law, SourceFile } from './house/law.js';
import { mocksStandApart } from './house/mocks.js';
import { completeLockFile, exactVersions, noDependencies, packagesAreInstalled } from './house/packages.js';
import { noClockAndNoChance, oneFileAsksIntl } from './house/purity.js';
import { filesSayWhatTheyAre, namedExports, noAny, shortFiles, shortFunctions, shortLines } from './house/shape.js';

const laws: readonly Law[] = [
  importsRunOneWay,
  noImportCircles,
  libraryLoadsNoTexts,
  neutralLayersImportNoPackage,
  noClockAndNoChance,
  oneFileAsksIntl,
  noDependencies,
  packagesAreInstalled,
  exactVersions,
  completeLockFile,
  shortFunctions,
  shortLines,
  shortFiles,
  namedExports,
  filesSayWhatTheyAre,
  noAny,
  mocksStandApart,
];

describe('the project', () => {
  const files = readProject();

  it('is read completely', () => {
    const paths = files.map(({ path }) => path);
    for (const path of [
      'package.json',
      'package-lock.json',
      'src/index.ts',
      'scripts/ensure.mjs',
      'test/house.test.ts',
    ]) {
      expect(paths).toContain(path);
    }
  });

  for (const law of laws) {
    it(law.title, () => {
      const breaches = law.breaches(files);
      if (breaches.length > 0) expect.fail(`${law.title}\n  ${breaches.join('\n  ')}\nTo fix it: ${law.fix}`);
    });
  }
});

/** A breach of a rule: files by path, and the messages expected. */
type Breach = readonly [law: Law, files: Readonly<Record<string, string>>, expected: readonly string[]];

const lines = (count: number, text = '//'): string => Array.from({ length: count }, () => text).join('\n');
const manyFiles = (count: number, lineCount: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`src/core/f${lineCount}-${i}.ts`, lines(lineCount)]));

const breaches: readonly Breach[] = [
  [
    importsRunOneWay,
    imports('src/core/a.ts', '../engine/b.js'),
    ['src/core/a.ts:1 core imports engine (../engine/b.js)'],
  ],
  [importsRunOneWay, imports('src/plan/a.ts', '../index.js'), ['src/plan/a.ts:1 plan imports library (../index.js)']],
  [importsRunOneWay, imports('src/index.ts', './cli/b.js'), ['src/index.ts:1 library imports cli (./cli/b.js)']],
  [
    importsRunOneWay,
    imports('src/formats/csv/a.ts', '../../storage/b.js'),
    ['src/formats/csv/a.ts:1 formats imports storage (../../storage/b.js)'],
  ],
  [
    importsRunOneWay,
    imports('src/service/a.ts', '../cli/b.js'),
    ['src/service/a.ts:1 service imports cli (../cli/b.js)'],
  ],
  [
    importsRunOneWay,
    imports('src/workbench/a.ts', '../core/b.js'),
    ['src/workbench/a.ts:1 workbench imports core (../core/b.js), not the library, formats, inspect or plot'],
  ],
  [
    importsRunOneWay,
    imports('src/core/a.ts', '../odd/b.js'),
    ['src/core/a.ts:1 imports ../odd/b.js, which lies in no known layer'],
  ],
  [
    importsRunOneWay,
    { 'src/core/a.ts': "import type { B } from '../plan/b.js';" },
    ['src/core/a.ts:1 core imports plan (../plan/b.js)'],
  ],
  [
    importsRunOneWay,
    { 'src/core/a.ts': "\nexport { b } from '../plan/b.js';" },
    ['src/core/a.ts:2 core imports plan (../plan/b.js)'],
  ],
  [
    importsRunOneWay,
    { 'src/core/a.ts': "const b = await import('../plan/b.js');" },
    ['src/core/a.ts:1 core imports plan (../plan/b.js)'],
  ],
  [
    importsRunOneWay,
    { 'src/core/a.ts': "type B = import('../plan/b.js').B;" },
    ['src/core/a.ts:1 core imports plan (../plan/b.js)'],
  ],
  [
    noImportCircles,
    { ...imports('src/core/a.ts', './b.js'), 'src/core/b.ts': "import type { A } from './a.js';" },
    [
      'src/core/a.ts:1 imports src/core/b.ts, which leads back here',
      'src/core/b.ts:1 imports src/core/a.ts, which leads back here',
    ],
  ],
  [
    noImportCircles,
    {
      ...imports('src/workbench/a.tsx', './aside.js', './b.js'),
      ...imports('src/workbench/aside.ts'),
      'src/workbench/b.ts': "export * from './c.js';",
      'src/workbench/c.ts': "\ntype A = import('./a.js').A;",
    },
    [
      'src/workbench/a.tsx:2 imports src/workbench/b.ts, which leads back here',
      'src/workbench/b.ts:1 imports src/workbench/c.ts, which leads back here',
      'src/workbench/c.ts:2 imports src/workbench/a.tsx, which leads back here',
    ],
  ],
  [
    noImportCircles,
    // Two circles that share a file.
    {
      ...imports('test/a.ts', './b.js', './c.js'),
      ...imports('test/b.ts', './a.js'),
      ...imports('test/c.ts', './a.js'),
    },
    [
      'test/a.ts:1 imports test/b.ts, which leads back here',
      'test/a.ts:2 imports test/c.ts, which leads back here',
      'test/b.ts:1 imports test/a.ts, which leads back here',
      'test/c.ts:1 imports test/a.ts, which leads back here',
    ],
  ],
  [
    noImportCircles,
    imports('scripts/a.mjs', './a.mjs'),
    ['scripts/a.mjs:1 imports scripts/a.mjs, which leads back here'],
  ],
  [
    libraryLoadsNoTexts,
    {
      'src/index.ts': "export { a } from './plan/a.js';",
      'src/plan/a.ts': "import { b } from '../operations/texts/index.js';",
    },
    ['src/plan/a.ts:1 imports ../operations/texts/index.js'],
  ],
  [neutralLayersImportNoPackage, imports('src/kernels/a.ts', 'node:fs'), ['src/kernels/a.ts:1 imports node:fs']],
  [neutralLayersImportNoPackage, imports('src/engine/a.ts', 'fs'), ['src/engine/a.ts:1 imports fs']],
  [neutralLayersImportNoPackage, imports('src/plan/a.ts', 'commander'), ['src/plan/a.ts:1 imports commander']],
  [oneFileAsksIntl, { 'src/plan/a.ts': 'new Intl.NumberFormat();' }, ['src/plan/a.ts:1 asks Intl']],
  ...impure('Date.now()', 'uses Date.now'),
  ...impure('globalThis.Date.now()', 'uses Date.now'),
  ...impure('new Date()', 'takes the time of now (Date without arguments)'),
  ...impure('Date()', 'takes the time of now (Date without arguments)'),
  ...impure('Date.parse(text)', 'uses Date.parse'),
  ...impure('Math.random()', 'uses Math.random'),
  ...impure('performance.now()', 'uses performance'),
  ...impure('globalThis.crypto.randomUUID()', 'uses globalThis.crypto'),
  ...impure('process.env', 'uses process'),
  ...impure('{ process }', 'uses process'),
  ...impure('setTimeout(run, 1)', 'uses setTimeout'),
  ...impure('console.log(1)', 'uses console'),
  ...impure('date.getHours()', "uses getHours, which answers by the machine's zone or language"),
  ...impure('a.toLocaleString()', "uses toLocaleString, which answers by the machine's zone or language"),
  ...impure('a.localeCompare(b)', "uses localeCompare, which answers by the machine's zone or language"),
  [
    noDependencies,
    manifest({ dependencies: { lodash: '4.17.21', luxon: '3.7.2' } }),
    ['package.json depends on lodash, luxon'],
  ],
  [
    packagesAreInstalled,
    {
      ...manifest({ devDependencies: { a: '1.0.0', '@b/c': '1.0.0' }, optionalDependencies: { d: '1.0.0' } }),
      'src/service/a.ts': "import { a } from 'a';\nimport type { T } from 'a';\nimport { d } from 'd/e';",
      'src/formats/b.ts': "import 'node:fs';\nconst { c } = await import('@b/c/d');",
      'src/cli/c.ts': "import { a } from 'a';",
    },
    ['src/service/a.ts:1 imports a', 'src/formats/b.ts:2 imports @b/c'],
  ],
  [
    exactVersions,
    manifest({ devDependencies: { a: '^1.0.0', b: '1.2', c: 'latest', d: '1.0.0-rc.1' } }),
    ['package.json asks for a ^1.0.0', 'package.json asks for b 1.2', 'package.json asks for c latest'],
  ],
  [
    completeLockFile,
    lock({ 'node_modules/a': { optionalDependencies: { 'a-darwin-arm64': '1.0.0' } } }),
    ['package-lock.json lacks node_modules/a-darwin-arm64'],
  ],
  [
    shortFunctions,
    { 'src/core/a.ts': `const f = () => {\n${lines(68)}\n};` },
    ['src/core/a.ts:1 a function of 70 lines'],
  ],
  [
    shortFunctions,
    { 'scripts/a.mjs': `class A {\n  m() {\n${lines(68)}\n}}` },
    ['scripts/a.mjs:2 a function of 70 lines'],
  ],
  [shortLines, { 'src/core/a.ts': `\n${'x'.repeat(121)}` }, ['src/core/a.ts:2 has 121 characters']],
  [shortFiles, manyFiles(3, 120), ['the median file has 120 lines']],
  [
    shortFiles,
    { ...manyFiles(8, 10), ...manyFiles(2, 300) },
    [
      'the 90th percentile is 300 lines: src/core/f10-5.ts 10, src/core/f10-6.ts 10, src/core/f10-7.ts 10, ' +
        'src/core/f300-0.ts 300, src/core/f300-1.ts 300',
    ],
  ],
  [namedExports, { 'src/core/a.ts': 'export default 1;' }, ['src/core/a.ts:1 is a default export']],
  [namedExports, { 'src/core/a.ts': 'export default function f() {}' }, ['src/core/a.ts:1 is a default export']],
  [
    namedExports,
    { 'src/core/a.ts': 'const a = 1;\nexport { a as default };' },
    ['src/core/a.ts:2 is a default export'],
  ],
  [
    filesSayWhatTheyAre,
    { 'src/core/date-utils.ts': '', 'src/helpers/a.ts': '', 'test/common.ts': '' },
    ['src/core/date-utils.ts', 'src/helpers/a.ts', 'test/common.ts'],
  ],
  [
    noAny,
    { 'src/core/a.ts': 'const a: any = 1;', 'test/b.ts': '\nconst b = x as any[];' },
    ['src/core/a.ts:1 says `any`', 'test/b.ts:2 says `any`'],
  ],
  [mocksStandApart, { 'test/core/a.test.ts': "\nvi.mock('./b.js');" }, ['test/core/a.test.ts mocks a module']],
];

describe('a breach is reported', () => {
  for (const [law, files, expected] of breaches) {
    it(`${law.title}: ${expected[0]}`, () => {
      expect(law.breaches(asFiles(files))).toEqual(expected);
    });
  }

  it('for every rule', () => {
    expect(new Set(breaches.map(([law]) => law))).toEqual(new Set(laws));
  });
});

describe('code that only looks like a breach passes', () => {
  const lawful: readonly [law: Law, files: Readonly<Record<string, string>>][] = [
    [importsRunOneWay, imports('src/index.ts', './engine/run.js', './plan/plan.js')],
    [importsRunOneWay, imports('src/cli/a.ts', '../../package.json')],
    [importsRunOneWay, imports('src/workbench/a.ts', '../index.js', './b.js')],
    [
      noImportCircles,
      {
        ...imports('src/core/a.ts', './b.js', './c.js', 'd'),
        ...imports('src/core/b.ts', './d.js'),
        ...imports('src/core/c.ts', './d.js', './b.js'),
        'src/core/d.ts': "// import { a } from './a.js';",
      },
    ],
    [neutralLayersImportNoPackage, { ...imports('src/core/a.ts', './b.js'), ...imports('src/cli/a.ts', 'node:fs') }],
    [oneFileAsksIntl, { 'src/core/zone.ts': 'new Intl.DateTimeFormat();', 'src/cli/a.ts': 'Intl.DateTimeFormat();' }],
    [noDependencies, manifest({ devDependencies: { luxon: '3.7.2' } })],
    [noClockAndNoChance, { 'src/core/a.ts': 'const f = (process: Work) => process.go({ performance: 1 }).console;' }],
    [noClockAndNoChance, { 'src/core/a.ts': 'new Date(0).getUTCHours(); Date.UTC(2000, 1); // Date.now()' }],
    [noClockAndNoChance, { 'src/core/a.ts': "count.toLocaleString('en-US');" }],
    [noClockAndNoChance, { 'src/cli/a.ts': 'Date.now(); process.exit(Math.random());' }],
    [shortFunctions, { 'src/core/a.ts': `const f = () => {\n${lines(67)}\n};` }],
    [shortLines, { 'src/core/a.ts': 'x'.repeat(120) }],
    [shortFiles, { ...manyFiles(9, 10), ...manyFiles(1, 900) }],
    [filesSayWhatTheyAre, { 'src/core/commonality.ts': '' }],
    [noAny, { 'src/core/a.ts': "const any = 'any'; // any" }],
    [mocksStandApart, { 'test/laws/short-chunks/a.test.ts': "vi.mock('./b.js');" }],
  ];

  for (const [law, files] of lawful) {
    it(`${law.title}: ${Object.values(files)[0]?.slice(0, 60)}`, () => {
      expect(law.breaches(asFiles(files))).toEqual([]);
    });
  }
});

function imports(path: string, ...modules: string[]): Record<string, string> {
  return { [path]: modules.map((module, i) => `import { a${i} } from '${module}';`).join('\n') };
}

function impure(expression: string, expected: string): Breach[] {
  return [[noClockAndNoChance, { 'src/core/a.ts': `const a = ${expression};` }, [`src/core/a.ts:1 ${expected}`]]];
}

function manifest(content: object): Record<string, string> {
  return { 'package.json': JSON.stringify(content) };
}

function lock(packages: object): Record<string, string> {
  return { 'package-lock.json': JSON.stringify({ packages }) };
}

function asFiles(texts: Readonly<Record<string, string>>): SourceFile[] {
  return Object.entries(texts).map(([path, text]) => ({ path, text }));
}

/**
 * Every source file of the project, except generated modules and the AssemblyScript sources, which their own compiler
 * checks.
 */
function readProject(): SourceFile[] {
  const root = join(import.meta.dirname, '..');
  const sources = ['src', 'scripts', 'test'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .map((name) => join(root, folder, name))
      .filter((path) => /\.([mc]?tsx?|[mc]?js)$/.test(path)),
  );
  return [...sources, join(root, 'package.json'), join(root, 'package-lock.json')]
    .map((path) => ({ path: relative(root, path).split(sep).join('/'), text: readFileSync(path, 'utf8') }))
    .filter(({ path }) => !/^src\/kernels\/((scan|json)-)?module\.ts$/.test(path));
}
