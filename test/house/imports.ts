import { posix } from 'node:path';
import ts from 'typescript';
import { breachesIn, filesUnder, type Law, type SourceFile } from './law.js';

// A layer may import itself and layers of lower rank. Layers of equal rank do not import each other.
// The library's entry point, src/index.ts, lies between the engine and all that is built on it.
const RANKS: Readonly<Record<string, number>> = {
  core: 0,
  kernels: 1,
  operations: 2,
  plan: 3,
  engine: 4,
  library: 5,
  formats: 6,
  inspect: 6,
  plot: 6,
  storage: 6,
  service: 7,
  // `windrow serve` starts the service.
  cli: 8,
  workbench: 9,
};

/** What the workbench may import: the library's exports, formats, inspection and charts. */
const PAGE_USES: readonly string[] = ['library', 'formats', 'inspect', 'plot'];
/** `windrow/every`: an entry point of the library whose files are in the engine's folder. */
const EVERY = 'src/engine/every/index.js';

/** The layers that run in a browser unchanged. */
export const NEUTRAL_FOLDERS = ['src/core', 'src/kernels', 'src/operations', 'src/plan', 'src/engine'];

export const importsRunOneWay: Law = {
  title: 'imports run one way: core <- kernels <- operations <- plan <- engine <- formats, storage <- service <- cli',
  fix: 'Move what is needed down to the lower layer, or hand it in as an argument. Siblings meet in a layer above.',
  breaches: (files) =>
    files
      .filter(({ path }) => path.startsWith('src/'))
      .flatMap((file) => breachesIn(file, (node) => directionBreach(file, importedModule(node)))),
};

function directionBreach(file: SourceFile, module: string | undefined): string | undefined {
  if (module === undefined || !module.startsWith('.')) return undefined;
  const from = layerOf(file.path);
  const target = posix.normalize(posix.join(posix.dirname(file.path), module));
  const to = layerOf(target);
  if (from === undefined) return `lies in no known layer: ${posix.dirname(file.path)}`;
  if (target === 'package.json' && isAboveLibrary(from)) return undefined;
  if (to === undefined) return `imports ${module}, which lies in no known layer`;
  if (from === to) return undefined;
  if (from === 'workbench') {
    if (PAGE_USES.includes(to) || target === EVERY) return undefined;
    return `workbench imports ${to} (${module}), not the library, formats, inspect or plot`;
  }
  const isLower = (RANKS[to] ?? Infinity) < (RANKS[from] ?? -Infinity);
  return isLower ? undefined : `${from} imports ${to} (${module})`;
}

function isAboveLibrary(layer: string): boolean {
  return (RANKS[layer] ?? 0) > (RANKS.library ?? 0);
}

function layerOf(path: string): string | undefined {
  if (/^src\/index(\.[jt]s)?$/.test(path)) return 'library';
  const folder = /^src\/([^/]+)\//.exec(path)?.[1];
  return folder !== undefined && folder in RANKS ? folder : undefined;
}

export const neutralLayersImportNoPackage: Law = {
  title: 'core to engine import no node: module and no package',
  fix: 'These layers run in a browser as they are: let formats, service or cli do it and hand in the result.',
  breaches: (files) =>
    filesUnder(files, ...NEUTRAL_FOLDERS, 'src/index.ts').flatMap((file) =>
      breachesIn(file, (node) => {
        const module = importedModule(node);
        const isOwn = module === undefined || module.startsWith('.');
        return isOwn ? undefined : `imports ${module}`;
      }),
    ),
};

/** What is said of operations. Those who run plans do not read it, and it would be a fifth of the code to load. */
const TEXTS = 'src/operations/texts/';

export const libraryLoadsNoTexts: Law = {
  title: 'an import of windrow loads no texts of operations',
  fix: 'Export what needs texts from src/inspect, and import it from there.',
  breaches: (files) => {
    const filesByPath = new Map(files.map((file) => [file.path, file]));
    const reached = new Set(['src/index.ts', 'src/engine/every/index.ts']);
    const breaches: string[] = [];
    // A set takes what is added to it while it is walked through.
    for (const path of reached) {
      const file = filesByPath.get(path);
      if (file === undefined) continue;
      const found = breachesIn(file, (node) => {
        const module = importedModule(node);
        if (module === undefined || !module.startsWith('.')) return undefined;
        const target = posix.join(posix.dirname(path), module).replace(/js$/, 'ts');
        if (target.startsWith(TEXTS)) return `imports ${module}`;
        reached.add(target);
        return undefined;
      });
      breaches.push(...found);
    }
    return breaches;
  },
};

/** The module that a node imports, in any form of import. */
export function importedModule(node: ts.Node): string | undefined {
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return textOf(node.moduleSpecifier);
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) return textOf(node.argument.literal);
  if (ts.isExternalModuleReference(node)) return textOf(node.expression);
  if (!ts.isCallExpression(node)) return undefined;
  const isImport = node.expression.kind === ts.SyntaxKind.ImportKeyword;
  const isRequire = ts.isIdentifier(node.expression) && node.expression.text === 'require';
  return isImport || isRequire ? textOf(node.arguments[0]) : undefined;
}

function textOf(node: ts.Node | undefined): string | undefined {
  return node !== undefined && ts.isStringLiteralLike(node) ? node.text : undefined;
}
