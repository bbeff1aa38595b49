import ts from 'typescript';

/** A file of the project; its path starts at the root and has forward slashes. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

/** A rule of the project: a pure function, so that a test can feed it a breach. */
export interface Law {
  readonly title: string;
  /** How to fix a breach, for somebody who meets this rule for the first time. */
  readonly fix: string;
  /** One line for each breach, with the file and, where there is one, the line number. */
  breaches(files: readonly SourceFile[]): string[];
}

/** The files in any of the folders. */
export function filesUnder(files: readonly SourceFile[], ...folders: string[]): SourceFile[] {
  return files.filter(({ path }) => folders.some((folder) => path.startsWith(`${folder}/`)));
}

/** Rules share the parsed files. */
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

/** Calls `find` for each node of the file and puts its place before each message. */
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
