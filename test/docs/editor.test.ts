// What an editor shows where a request is written, from the published declarations.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { type OperationInfo, operations } from '../../src/inspect/index.js';

const distPath = fileURLToPath(new URL('../../dist/', import.meta.url));
const fileName = join(distPath, 'hovered.ts');

/** The documentation that quick info shows at each `⟨name⟩` of a text, in order. */
function hovered(marked: string, entry: string): string[] {
  const places: number[] = [];
  const text = marked.replace(/⟨(\w+)⟩/g, (_, name: string, at: number) => {
    places.push(at - 2 * places.length);
    return name;
  });
  const service = serviceOf(text, entry);
  const shift = service.text.length - text.length;
  return places.map((at) => {
    const info = service.getQuickInfoAtPosition(fileName, at + shift);
    return ts.displayPartsToString(info?.documentation);
  });
}

/** The text at which the compiler finds a fault, with the first line of what it says. */
function faultsOf(text: string, entry: string): [place: string, message: string][] {
  const service = serviceOf(text, entry);
  return service.getSemanticDiagnostics(fileName).map(({ start = 0, length = 0, messageText }) => {
    const [first = ''] = ts.flattenDiagnosticMessageText(messageText, '\n').split('\n');
    return [service.text.slice(start, start + length), first];
  });
}

/** The declarations, read once for all services. */
const documents = ts.createDocumentRegistry();

function serviceOf(code: string, entry: string): ts.LanguageService & { readonly text: string } {
  const text = `import { createPlan, pipeline, type RequestStep } from './${entry}';\n${code}`;
  const host: ts.LanguageServiceHost = {
    getCompilationSettings: () => ({ module: ts.ModuleKind.NodeNext, target: ts.ScriptTarget.ES2022, strict: true }),
    getScriptFileNames: () => [fileName],
    getScriptVersion: (name) => (name === fileName ? text : '1'),
    getScriptSnapshot: (name) => {
      const found = name === fileName ? text : ts.sys.readFile(name);
      return found === undefined ? undefined : ts.ScriptSnapshot.fromString(found);
    },
    getCurrentDirectory: () => distPath,
    getDefaultLibFileName: ts.getDefaultLibFilePath,
    fileExists: ts.sys.fileExists,
    readFile: ts.sys.readFile,
    directoryExists: ts.sys.directoryExists,
  };
  return { ...ts.createLanguageService(host, documents), text };
}

/** A step with a parameter of an operation for each example, as the type of a parameter may depend on the others. */
function stepTexts({ name, examples }: OperationInfo, field: string): string[] {
  return examples.map(({ parameters: { [field]: value, ...others } }) => {
    const fields = Object.entries(others).map(([other, one]) => `${other}: ${JSON.stringify(one)}, `);
    const hovered = `⟨${field}⟩: ${value === undefined ? 'undefined as never' : JSON.stringify(value)}`;
    const step = `operation: '${name}', input: [], output: [], parameters: { ${fields.join('')}${hovered} }`;
    return `({ ${step} }) satisfies RequestStep;`;
  });
}

describe.each(['index.js', 'index.cjs'])('an editor with the types of %s', (entry) => {
  it('shows of every parameter of a step what the operation says of it', () => {
    const fields = [...operations.values()].flatMap((info) => {
      return Object.entries(info.parameters.properties).map(([field, { description }]) => ({
        info,
        field,
        description,
      }));
    });
    const texts = fields.map(({ info, field }) => stepTexts(info, field));
    const shown = hovered(texts.flat().join('\n'), entry);
    const without = fields.filter(({ description }, index) => {
      return !shown.splice(0, texts[index]!.length).some((text) => text === description);
    });
    expect(fields.length).toBeGreaterThan(100);
    expect(without.map(({ info, field }) => `${info.name}.${field}`)).toEqual([]);
  });

  it('shows a mistake of a plain request at its place, with one line that names it', () => {
    const step =
      "input: [{ timeseriesId: 'office', metric: 'Raw' }], output: [{ timeseriesId: 'office', metric: 'R' }]";
    const plan = (operation: string, more = '') => {
      const item = `metric: 'R', processingType: 'batch'${more}, operations: [{ operation: '${operation}', ${step} }]`;
      return [`createPlan([{ ${item} }]);`, `createPlan({ items: [{ ${item} }] });`].join('\n');
    };
    expect(faultsOf(plan('Abs'), entry)).toEqual([]);
    const misspelt = ['operation', expect.stringMatching(/^Type '"Abss"' is not assignable .*Did you mean '"Abs"'\?$/)];
    expect(faultsOf(plan('Abss'), entry)).toEqual([misspelt, misspelt]);
    const noDuration = ['frequency', expect.stringMatching(/^Type '"15M"' is not assignable to type 'Frequency/)];
    expect(faultsOf(plan('Abs', ", frequency: '15M'"), entry)).toEqual([noDuration, noDuration]);
  });

  it('shows what the fields of a window mean', () => {
    const aggregate = `.aggregate({ ⟨function⟩: 'Sum', window: { ⟨type⟩: 'sliding', ⟨size⟩: 'PT1H' } })`;
    expect(hovered(`pipeline('office')${aggregate};`, entry)).toEqual([
      'What to compute from the samples of a window.',
      'of one size, one at each boundary of an interval or one for each sample',
      'How far back each window reaches.',
    ]);
  });

  it('shows of a method of the builder what its operation does', () => {
    expect(hovered(`pipeline('office').⟨movingAverage⟩('PT1H').⟨round⟩(1).⟨mul⟩(2);`, entry)).toEqual(
      ['MovingAverage', 'Round', 'Mul'].map((name) => operations.get(name)?.summary),
    );
  });
});
