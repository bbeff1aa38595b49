import { isExtension, operationsByName } from './index.js';
import type { Example, ExampleSample, Inputs, Operation, WrittenExample } from './operation.js';
import type { JsonSchema } from './parameters.js';
import { parameterSchemas, textsOf } from './texts/index.js';

/** An operation as plain data, for forms, listings and docs. */
export interface OperationInfo {
  /** As the interface spells it. Requests may write it in any case. */
  readonly name: string;
  readonly aliases: readonly string[];
  /** Whether the operation extends the interface. */
  readonly isExtension: boolean;
  readonly summary: string;
  /** map: one result per sample, at its time. filter: drops samples. regrid: results at times of its own. */
  readonly shape: 'map' | 'filter' | 'regrid';
  readonly inputs: Inputs;
  /**
   * JSON Schema (2020-12) of `parameters`. A parameter that extends the interface has `"x-extension": true`. Where only
   * some of the allowed names extend it (such as functions), `"x-extensions"` lists these.
   */
  readonly parameters: JsonSchema & {
    readonly properties: Readonly<Record<string, JsonSchema>>;
    readonly required: readonly string[];
  };
  readonly examples: readonly Example[];
}

/** Every operation by its name: those of the interface in its order, then the extensions. */
export const operations: ReadonlyMap<string, OperationInfo> = /* @__PURE__ */ infoByName();

function infoByName(): ReadonlyMap<string, OperationInfo> {
  return new Map([...operationsByName].map(([name, operation]) => [name, infoOf(operation)]));
}

// Schemas and examples are made when somebody reads them: they would be a fifth of the time that an import takes.
function infoOf(operation: Operation): OperationInfo {
  const { name, aliases = [], shape, inputs = 'one' } = operation;
  let parameters: OperationInfo['parameters'] | undefined;
  let examples: readonly Example[] | undefined;
  return {
    name,
    aliases,
    isExtension: isExtension(operation),
    summary: textsOf(name).summary,
    shape,
    inputs,
    get parameters() {
      parameters ??= schemaOf(operation);
      return parameters;
    },
    get examples() {
      examples ??= textsOf(name).examples.map(readExample);
      return examples;
    },
  };
}

function schemaOf(operation: Operation): OperationInfo['parameters'] {
  const schemas = parameterSchemas(operation);
  const entries = Object.entries(operation.parameters);
  const properties = Object.fromEntries(
    entries.map(([name, { isExtension }]) => [name, { ...schemas[name], ...(isExtension && { 'x-extension': true }) }]),
  );
  const required = entries.filter(([, { isRequired }]) => isRequired).map(([name]) => name);
  return { type: 'object', properties, required, additionalProperties: false };
}

function readExample(example: WrittenExample): Example {
  return { ...example, inputs: example.inputs.map(readSamples), output: readSamples(example.output) };
}

function readSamples(text: string): ExampleSample[] {
  return text.split(', ').map((sample) => {
    const [time = '', value = ''] = sample.split(' ');
    return [time, Number(value)];
  });
}
