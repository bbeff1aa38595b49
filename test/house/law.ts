import ts from 'typescript';

/** A file of the project, its path from the root with forward slashes. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

/** A rule of the house: a pure function, so that a test can feed it a breach. */
export interface Law {
  readonly title: string;
  /** How to mend a breach, for whoever meets this law for the first time. */
  readonly mend: string;
  /** One line a breach, each with the file and, where there is one, the line. */
  breaches(files: readonly SourceFile[]): string[];
}

/** The files below any of the folders. */
export function filesUnder(files: readonly SourceFile[], ...folders: string[]): SourceFile[] {
  return files.filter(({ path }) => folders.some((folder) => path.startsWith(`${folder}/`)));
}

/** Each law reads the same files. */
const parsed = new WeakMap<SourceFile, ts.SourceFile>();

function parse(file: SourceFile): ts.SourceFile {
  const known = parsed.get(file);
  if (known !== undefined) return known;
  const kind = /\.[mc]?js$/.test(file.path)
    ? ts.ScriptKind.JS
    : file.path.endsWith('x')
      ? ts.ScriptKind.TSX
      : ts.ScriptKind.TS;
  const source = ts.createSourceFile(file.path, file.text, ts.ScriptTarget.ES2022, true, kind);
  parsed.set(file, source);
  return source;
}

/** What `find` says of each node of the file, as breaches with their place. */
export function breachesIn(file: SourceFile, find: (node: ts.Node) => string | undefined): string[] {
  const source = parse(file);
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    const what = find(node);
    if (what !== undefined) found.push(`${place(source, node)} ${what}`);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

function place(source: ts.SourceFile, node: ts.Node): string {
  return `${source.fileName}:${source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1}`;
}
