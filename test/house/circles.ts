import { posix } from 'node:path';
import { importedModule } from './imports.js';
import { breachesIn, type Law, type SourceFile } from './law.js';

export const noImportCircles: Law = {
  title: 'no files import each other in a circle, not even for a type',
  fix: 'Move what is needed to a file that both may import, and name that file after what it holds.',
  breaches: (files) => {
    const code = new Map(files.filter(({ path }) => CODE.test(path)).map((file) => [file.path, file]));
    const importsOf = new Map([...code.values()].map((file) => [file.path, importedFiles(file, code)]));
    const componentOf = components(importsOf);
    // An import lies on a circle if its two files reach each other, and only then.
    return [...code.values()]
      .filter(({ path }) => importsOf.get(path)!.some((target) => componentOf.get(target) === componentOf.get(path)))
      .flatMap((file) =>
        breachesIn(file, (node) => {
          const target = fileOf(file, importedModule(node), code);
          if (target === undefined || componentOf.get(target) !== componentOf.get(file.path)) return undefined;
          return `imports ${target}, which leads back here`;
        }),
      );
  },
};

const CODE = /\.([mc]?tsx?|[mc]?js)$/;
type Files = ReadonlyMap<string, SourceFile>;

function importedFiles(file: SourceFile, files: Files): readonly string[] {
  const found: string[] = [];
  breachesIn(file, (node) => {
    const target = fileOf(file, importedModule(node), files);
    if (target !== undefined) found.push(target);
    return undefined;
  });
  return found;
}

/** The file that a module's name stands for; undefined for packages, data and generated modules. */
function fileOf({ path }: SourceFile, module: string | undefined, files: Files): string | undefined {
  if (module === undefined || !module.startsWith('.')) return undefined;
  const target = posix.join(posix.dirname(path), module);
  return [target, target.replace(/js$/, 'ts'), target.replace(/js$/, 'tsx')].find((one) => files.has(one));
}

/**
 * Numbers files so that two have the same number if each leads to the other: the strongly connected components of
 * R. Tarjan, "Depth-first search and linear graph algorithms", 1972. Linear in the imports, as a search for the
 * circles themselves is not.
 */
function components(importsOf: ReadonlyMap<string, readonly string[]>): ReadonlyMap<string, number> {
  const orderOf = new Map<string, number>();
  const componentOf = new Map<string, number>();
  /** Files that were visited and have no component yet. */
  const open: string[] = [];

  /** @returns the lowest order of an open file that this one leads to. */
  function visit(path: string): number {
    const order = orderOf.size;
    orderOf.set(path, order);
    open.push(path);
    let lowest = order;
    for (const target of importsOf.get(path) ?? []) {
      if (!componentOf.has(target)) lowest = Math.min(lowest, orderOf.get(target) ?? visit(target));
    }
    // Nothing before it leads here and is led to from here: what is open since then is one component.
    if (lowest === order) for (const one of open.splice(open.lastIndexOf(path))) componentOf.set(one, order);
    return lowest;
  }

  for (const path of importsOf.keys()) if (!orderOf.has(path)) visit(path);
  return componentOf;
}
