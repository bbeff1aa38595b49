import { operationsByName } from '../operations/index.js';
import type { Operation } from '../operations/operation.js';
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
  properties: { timeseriesId: { type: 'string', minLength: 1 }, metric: { type: 'string', minLength: 1 } },
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
      input: { type: 'array', minItems: 1, maxItems: 2, items: { $ref: '#/$defs/series' } },
      output: { type: 'array', minItems: 1, maxItems: 1, items: { $ref: '#/$defs/series' } },
      parameters: { type: 'object' },
    },
    required: ['operation', 'input', 'output'],
    additionalProperties: false,
    allOf: operations.map(parametersOf),
  };
}

// What the parameters of one operation are.
function parametersOf({ name, aliases = [], summary, parameters, either }: Operation): JsonSchema {
  const entries = Object.entries(parameters);
  const properties = entries.map(([key, one]) => [key, { ...one.schema, description: one.summary }] as const);
  const required = entries.filter(([, { isRequired }]) => isRequired).map(([key]) => key);
  const described = {
    description: summary,
    properties: Object.fromEntries(properties),
    additionalProperties: false,
    ...(either === undefined ? {} : { oneOf: either.map((one) => ({ required: [one] })) }),
  };
  return {
    if: { properties: { operation: { enum: [name, ...aliases] } } },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: {
      properties: { parameters: { ...described, required } },
      ...(required.length === 0 ? {} : { required: ['parameters'] }),
    },
  };
}
