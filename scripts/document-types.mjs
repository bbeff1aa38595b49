// Puts what operations say of themselves and of their parameters into the published declarations, as JSDoc: editors
// show it where a pipeline or a request is written. The texts are those of listings and forms.
//
//   node scripts/document-types.mjs        after tsup

import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { operations } from '../dist/inspect.js';

const distPath = fileURLToPath(new URL('../dist/', import.meta.url));

/** The texts for the declarations of a program. */
class Texts {
  #checker;
  /** For each declaration of a property how many operations have which text for it. */
  properties = new Map();
  /** For each declaration of a method its text, and those of its parameters. */
  methods = new Map();

  constructor(checker) {
    this.#checker = checker;
  }

  /** Adds the texts of a schema's properties to those of a type, and of what these hold. */
  addProperties(type, schema) {
    const fields = Object.entries(schema.properties ?? {});
    for (const part of partsOf(type)) {
      // Of the variants of a union, each has all that its own schema requires.
      const has = (name) => this.#checker.getPropertyOfType(part, name) !== undefined;
      if (!(schema.required ?? []).every(has)) continue;
      for (const [name, field] of fields) {
        const symbol = this.#checker.getPropertyOfType(part, name);
        if (symbol === undefined) continue;
        this.#addText(symbol, field.description);
        this.#addInner(this.#checker.getTypeOfSymbol(symbol), field);
      }
    }
  }

  /** Adds the texts of an operation to those of a method that writes a step of it. */
  addMethod(method, { summary, parameters }) {
    const schema = { properties: parameters.properties };
    const [signature] = this.#checker.getTypeOfSymbol(method).getCallSignatures();
    const tags = new Map();
    for (const parameter of signature.parameters) {
      const text = schema.properties[parameter.name]?.description;
      if (text !== undefined) tags.set(parameter.name, text);
      else this.addProperties(this.#checker.getNonNullableType(this.#checker.getTypeOfSymbol(parameter)), schema);
    }
    for (const declaration of method.declarations ?? []) this.methods.set(declaration, { summary, tags });
  }

  #addInner(type, schema) {
    const { items, oneOf = [] } = schema;
    if (schema.properties !== undefined) this.addProperties(type, schema);
    for (const one of oneOf) this.#addInner(type, one);
    if (items === undefined) return;
    for (const part of partsOf(type)) {
      const item = this.#checker.getIndexTypeOfType(part, ts.IndexKind.Number);
      if (item !== undefined) this.#addInner(item, items);
    }
  }

  #addText(symbol, text) {
    for (const declaration of text === undefined ? [] : (symbol.declarations ?? [])) {
      if (!declaration.getSourceFile().fileName.startsWith(distPath)) continue;
      const counts = this.properties.get(declaration) ?? new Map();
      this.properties.set(declaration, counts.set(text, (counts.get(text) ?? 0) + 1));
    }
  }
}

function partsOf(type) {
  return type.isUnion() ? type.types : [type];
}

/** Collects the texts for the declarations that an entry point has. */
function textsOf(entry) {
  const options = { module: ts.ModuleKind.NodeNext, target: ts.ScriptTarget.ES2022, strict: true, skipLibCheck: true };
  const program = ts.createProgram([distPath + entry], options);
  const checker = program.getTypeChecker();
  const texts = new Texts(checker);
  const typeOf = (type, name) => checker.getTypeOfSymbol(checker.getPropertyOfType(type, name));
  const infoOf = (name) => operations.get(partsOf(name).find(({ value }) => operations.has(value)).value);
  for (const step of typeNamed('RequestStep', program).types) {
    const { properties } = infoOf(typeOf(step, 'operation')).parameters;
    texts.addProperties(checker.getNonNullableType(typeOf(step, 'parameters')), { properties });
  }
  for (const operation of typeNamed('AnyOperation', program).types) {
    const info = infoOf(typeOf(operation, 'name'));
    for (const method of typeOf(operation, 'methods').getProperties()) texts.addMethod(method, info);
  }
  return texts;
}

function typeNamed(name, program) {
  for (const file of program.getSourceFiles()) {
    if (!file.fileName.startsWith(distPath)) continue;
    const found = file.statements.find((one) => ts.isTypeAliasDeclaration(one) && one.name.text === name);
    if (found !== undefined) return program.getTypeChecker().getTypeAtLocation(found);
  }
  throw new Error(`assertion failed: no type ${name}`);
}

/** A change of a file: what stands at `[from, to)` becomes `text`. */
function changesOf({ properties, methods }) {
  const changes = [];
  for (const [declaration, counts] of properties) {
    if (ts.getJSDocCommentsAndTags(declaration).length > 0) continue;
    // Where operations share a type, most of them say the same of it.
    const [[text]] = [...counts].sort(([, a], [, b]) => b - a);
    changes.push(before(declaration, [text]));
  }
  for (const [declaration, { summary, tags }] of methods) {
    const [written] = ts.getJSDocCommentsAndTags(declaration).filter(ts.isJSDoc);
    const about = ts.getTextOfJSDocComment(written?.comment) || summary;
    const change = before(declaration, [about, ...[...tags].map(([name, text]) => `@param ${name} ${text}`)]);
    changes.push({ ...change, from: written?.getStart() ?? change.from });
  }
  return changes;
}

function before(declaration, lines) {
  const file = declaration.getSourceFile();
  const at = declaration.getStart();
  const indent = ' '.repeat(file.getLineAndCharacterOfPosition(at).character);
  const [first, ...more] = lines.flatMap((line) => line.split('\n'));
  const block = ['/**', ...[first, ...more].map((line) => `${indent} * ${line}`), `${indent} */`].join('\n');
  const comment = more.length === 0 ? `/** ${first} */` : block;
  return { file, from: at, to: at, text: `${comment}\n${indent}` };
}

for (const entry of ['index.d.ts', 'index.d.cts']) {
  const changes = changesOf(textsOf(entry)).map((change) => ({ ...change, fileName: change.file.fileName }));
  for (const fileName of new Set(changes.map((change) => change.fileName))) {
    let text = readFileSync(fileName, 'utf8');
    const own = changes.filter((change) => change.fileName === fileName).sort((a, b) => b.from - a.from);
    for (const { from, to, text: added } of own) text = text.slice(0, from) + added + text.slice(to);
    writeFileSync(fileName, text);
  }
}
