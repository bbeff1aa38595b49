// Puts what operations say of themselves and their parameters into the published declarations, as JSDoc: editors show it
// where a pipeline or a request is written. The texts are those of listings and forms, so there is one truth.
//
//   node scripts/document-types.mjs        after tsup

import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { operations } from '../dist/index.js';

const distPath = fileURLToPath(new URL('../dist/', import.meta.url));

/** The texts for each declaration of a program. */
class Texts {
  #checker;
  /** @type {Map<import('typescript').Declaration, Set<string>>} */
  byDeclaration = new Map();

  constructor(checker) {
    this.#checker = checker;
  }

  /** Adds the texts of a schema's properties to those of a type, and of what these hold. */
  addProperties(type, schema) {
    for (const part of type.isUnion() ? type.types : [type]) {
      for (const [name, field] of Object.entries(schema.properties ?? {})) {
        const symbol = this.#checker.getPropertyOfType(part, name);
        if (symbol === undefined) continue;
        this.#add(symbol, field.description);
        this.#addInner(this.#checker.getTypeOfSymbol(symbol), field);
      }
    }
  }

  /** Adds a text to a method of the builder. */
  addMethod(methods, name, text) {
    const symbol = this.#checker.getPropertyOfType(methods, name);
    if (symbol !== undefined) this.#add(symbol, text);
  }

  #addInner(type, schema) {
    const { items, oneOf = [] } = schema;
    if (schema.properties !== undefined) this.addProperties(type, schema);
    for (const one of oneOf) this.#addInner(type, one);
    if (items === undefined) return;
    for (const part of type.isUnion() ? type.types : [type]) {
      const item = this.#checker.getIndexTypeOfType(part, ts.IndexKind.Number);
      if (item !== undefined) this.#addInner(item, items);
    }
  }

  #add(symbol, text) {
    for (const declaration of text === undefined ? [] : (symbol.declarations ?? [])) {
      if (!declaration.getSourceFile().fileName.startsWith(distPath)) continue;
      const texts = this.byDeclaration.get(declaration) ?? new Set();
      this.byDeclaration.set(declaration, texts.add(text));
    }
  }
}

function textsOf(entry) {
  const options = { module: ts.ModuleKind.NodeNext, target: ts.ScriptTarget.ES2022, strict: true, skipLibCheck: true };
  const program = ts.createProgram([distPath + entry], options);
  const checker = program.getTypeChecker();
  const exported = checker.getExportsOfModule(checker.getSymbolAtLocation(program.getSourceFile(distPath + entry)));
  const typeNamed = (name) => {
    const symbol = exported.find((one) => one.name === name);
    return checker.getDeclaredTypeOfSymbol(checker.getAliasedSymbol(symbol));
  };
  const texts = new Texts(checker);
  for (const step of typeNamed('RequestStep').types) {
    const typeOf = (name) => checker.getTypeOfSymbol(checker.getPropertyOfType(step, name));
    const named = typeOf('operation'); if (!operations.has(named.value)) { console.log(checker.typeToString(step).slice(0,300), checker.typeToString(named)); continue; } const { parameters } = operations.get(named.value);
    texts.addProperties(checker.getNonNullableType(typeOf('parameters')), parameters);
  }
  return texts.byDeclaration;
}
for (const [d, t] of textsOf('index.d.ts')) console.log(d.getSourceFile().fileName.slice(-30), d.parent.parent.name?.text ?? d.parent.name?.text, d.name.getText(), [...t]);
