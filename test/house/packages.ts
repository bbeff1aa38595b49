import ts from 'typescript';
import { completeLock } from '../../scripts/complete-lock.mjs';
import { importedModule } from './imports.js';
import { breachesIn, type Law, type SourceFile } from './law.js';

type Versions = Readonly<Record<string, string>>;
type Manifest = Readonly<Partial<Record<(typeof DEPENDENCY_FIELDS)[number], Versions>>>;

interface Lock {
  readonly packages: Readonly<Record<string, unknown>>;
}

const DEPENDENCY_FIELDS = ['dependencies', 'optionalDependencies', 'devDependencies'] as const;

export const noDependencies: Law = {
  title: 'the library has no dependencies',
  fix: 'Do without. What service and command need goes into optionalDependencies, tools into devDependencies.',
  breaches: (files) =>
    manifestOf(files).flatMap(({ dependencies = {} }) => {
      const names = Object.keys(dependencies);
      return names.length === 0 ? [] : [`package.json depends on ${names.join(', ')}`];
    }),
};

/** Their code is in files of `dist` that are built with the packages that they import. */
const BUNDLED = ['src/cli/', 'src/workbench/'];

export const packagesAreInstalled: Law = {
  title: 'the packages that the library and the service import are installed with windrow',
  fix: 'Move it from devDependencies to optionalDependencies: a program that installs windrow gets no devDependencies.',
  breaches: (files) =>
    manifestOf(files).flatMap(({ optionalDependencies = {} }) =>
      files
        .filter(({ path }) => path.startsWith('src/') && !BUNDLED.some((folder) => path.startsWith(folder)))
        .flatMap((file) =>
          breachesIn(file, (node) => {
            const name = isTypeImport(node) ? undefined : packageOf(importedModule(node));
            return name === undefined || name in optionalDependencies ? undefined : `imports ${name}`;
          }),
        ),
    ),
};

function isTypeImport(node: ts.Node): boolean {
  return ts.isImportTypeNode(node) || (ts.isImportDeclaration(node) && node.importClause?.isTypeOnly === true);
}

/** The package of a module; undefined for one of Node, and for a file. */
function packageOf(module: string | undefined): string | undefined {
  if (module === undefined || /^(node:|[./])/.test(module)) return undefined;
  return /^(?:@[^/]+\/)?[^/]+/.exec(module)?.[0];
}

export const exactVersions: Law = {
  title: 'every version is exact',
  fix: 'Pin it: `npm install --save-exact`. What is tested is what is installed.',
  breaches: (files) =>
    manifestOf(files).flatMap((manifest) =>
      DEPENDENCY_FIELDS.flatMap((field) => Object.entries(manifest[field] ?? {}))
        .filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))
        .map(([name, version]) => `package.json asks for ${name} ${version}`),
    ),
};

export const completeLockFile: Law = {
  title: 'the lock names the native packages of every platform',
  fix: 'Run `npm run lock` and commit package-lock.json; without it `npm ci` refuses the lock.',
  breaches: (files) =>
    read<Lock>(files, 'package-lock.json').flatMap((lock) => {
      const completed: Lock = completeLock(lock);
      const missing = Object.keys(completed.packages).filter((path) => !(path in lock.packages));
      return missing.map((path) => `package-lock.json lacks ${path}`);
    }),
};

function manifestOf(files: readonly SourceFile[]): Manifest[] {
  return read<Manifest>(files, 'package.json');
}

/** The parsed file, or nothing. npm wrote it, and so defines its shape. */
function read<Shape>(files: readonly SourceFile[], path: string): Shape[] {
  // `as`: npm checks both files at every install.
  return files.filter((file) => file.path === path).map(({ text }) => JSON.parse(text) as Shape);
}
