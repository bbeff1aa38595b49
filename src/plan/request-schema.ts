import { operationsByName, parameterSchemas, textsByName } from '../operations/index.js';
import type { Inputs, Operation } from '../operations/operation.js';
import type { JsonSchema } from '../operations/parameters.js';

/** The JSON Schema of a request, made of the operations, by which editors complete and check request files. */
export function requestSchema(): JsonSchema {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'A windrow request',
    anyOf: [
      { $ref: '#/$defs/items' },
      {
        type: 'object',
        properties: { $schema: { type: 'string' }, items: { $ref: '#/$defs/items' } },
        required: ['items'],
        additionalProperties: false,
      },
    ],
    $defs: { items: { type: 'array', minItems: 1, items: itemSchema() }, series: seriesSchema, step: stepSchema() },
  };
}

const seriesSchema = {
  type: 'object',
  properties: {
    timeseriesId: {
      type: 'string',
      minLength: 1,
      // The whole id, no `*`, or one name to fill in.
      pattern: '^(\\*|[^*]+)$',
      description: 'The id of a series; `*` for every series; or a pattern for those that match, such as `zone-{n}`.',
    },
    metric: { type: 'string', minLength: 1 },
  },
  required: ['timeseriesId', 'metric'],
  additionalProperties: false,
};

function itemSchema(): JsonSchema {
  return {
    type: 'object',
    properties: {
      metric: {
        type: 'string',
        minLength: 1,
        description: 'The name under which the result of the last step appears.',
      },
      processingType: { type: 'string', enum: ['batch', 'stream'] },
      frequency: { type: 'string', enum: ['PT15M', 'PT1H', 'PT24H'], description: 'How often a batch runs.' },
      operations: { type: 'array', minItems: 1, items: { $ref: '#/$defs/step' } },
    },
    required: ['metric', 'processingType', 'operations'],
    additionalProperties: false,
  };
}

function stepSchema(): JsonSchema {
  const operations = [...operationsByName.values()];
  return {
    type: 'object',
    properties: {
      operation: { type: 'string', enum: operations.flatMap(({ name, aliases = [] }) => [name, ...aliases]) },
      input: { type: 'array', minItems: 1, items: { $ref: '#/$defs/series' } },
      output: { type: 'array', minItems: 1, maxItems: 1, items: { $ref: '#/$defs/series' } },
      parameters: { type: 'object' },
    },
    required: ['operation', 'input', 'output'],
    additionalProperties: false,
    allOf: operations.map(parametersOf),
  };
}

const INPUT_COUNTS: Readonly<Record<Inputs, JsonSchema>> = {
  one: { maxItems: 1 },
  two: { minItems: 2, maxItems: 2 },
  'one or two': { maxItems: 2 },
  'two or three': { minItems: 2, maxItems: 3 },
  'two or more': { minItems: 2 },
  'one and a scalar, or two': { maxItems: 2 },
  'one and a scalar, or more': {},
};

// What the parameters of one operation are, and how many inputs it takes.
function parametersOf(operation: Operation): JsonSchema {
  const { name, aliases = [], parameters, inputs = 'one', either } = operation;
  const required = Object.keys(parameters).filter((key) => parameters[key]?.isRequired);
  const described = {
    description: textsByName[name]!.summary,
    properties: parameterSchemas(operation),
    additionalProperties: false,
    ...(either === undefined ? {} : { oneOf: either.map((one) => ({ required: [one] })) }),
  };
  return {
    if: { properties: { operation: { enum: [name, ...aliases] } } },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: {
      properties: { parameters: { ...described, required }, input: INPUT_COUNTS[inputs] },
      ...(required.length === 0 ? {} : { required: ['parameters'] }),
    },
  };
}
