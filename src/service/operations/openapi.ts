import { operationsByName } from '../../operations/index.js';
import type { JsonSchema } from '../../operations/parameters.js';
import { FREQUENCIES } from '../../plan/read-request.js';
import { seriesSchema, stepSchemas } from '../../plan/request-schema.js';
import { JSON_TYPE } from '../http/media-types.js';
import { NAME_CHARS_MAX } from '../timeseries/names.js';
import { ITEM_STEPS_MAX, ITEMS_MAX } from './request.js';

// The body of POST /operations, for /openapi.json. It is not in the schemas of the routes: the planner checks requests,
// with better errors.

const schemas = '#/components/schemas';
const series = { $ref: `${schemas}/SeriesReference` };
const steps = stepSchemas({ series, output: { $ref: `${schemas}/ResultReference` } });

const componentOf = (operation: string) => `${operation.replaceAll(' ', '')}Step`;

/** `OperationStep` is a choice of these, of which each operation has one: `RoundStep`. */
const stepComponents = Object.fromEntries(
  Object.entries(steps).map(([operation, schema]) => [componentOf(operation), withEnums(schema)]),
);

/** A schema with `enum` in place of `const`, which fewer generators of clients know. */
function withEnums<Part>(part: Part): Part;
function withEnums(part: unknown): unknown {
  if (Array.isArray(part)) return part.map((one) => withEnums(one));
  if (typeof part !== 'object' || part === null) return part;
  const fields = Object.entries(part).map(([name, value]) => {
    return name === 'const' ? ['enum', [value]] : [name, withEnums(value)];
  });
  return Object.fromEntries(fields);
}

const stepsByName = Object.fromEntries(
  [...operationsByName.values()].flatMap(({ name, aliases = [] }) =>
    [name, ...aliases].map((spelling) => [spelling, componentOf(name)]),
  ),
);

/** A choice of components, which the value of one property tells apart. */
function choiceOf(propertyName: string, components: Readonly<Record<string, string>>): JsonSchema {
  const mapping = Object.fromEntries(
    Object.entries(components).map(([value, component]) => [value, `${schemas}/${component}`]),
  );
  const oneOf = [...new Set(Object.values(mapping))].map(($ref) => ({ $ref }));
  return { oneOf, discriminator: { propertyName, mapping } };
}

const name = { type: 'string', minLength: 1, maxLength: NAME_CHARS_MAX };
const resultMetric = { ...name, not: { enum: ['Raw'] } };

const itemFields = {
  metric: { ...resultMetric, description: 'The name of the result' },
  operations: { type: 'array', minItems: 1, maxItems: ITEM_STEPS_MAX, items: { $ref: `${schemas}/OperationStep` } },
};

const required = ['metric', 'operations', 'processingType'];

/** The components that the body refers to. */
export const operationComponents: Readonly<Record<string, JsonSchema>> = {
  OperationItem: {
    ...choiceOf('processingType', {
      stream: 'StreamItem',
      Stream: 'StreamItem',
      batch: 'BatchItem',
      Batch: 'BatchItem',
    }),
    description: 'Names of types, operations, functions and choices may be in any case; here they are as documented',
  },
  StreamItem: {
    type: 'object',
    description: 'Computed as samples arrive',
    properties: { ...itemFields, processingType: { type: 'string', enum: ['stream', 'Stream'] } },
    required,
    additionalProperties: false,
  },
  BatchItem: {
    type: 'object',
    description: 'Computed at the boundaries of its frequency; without one, once',
    properties: {
      ...itemFields,
      processingType: { type: 'string', enum: ['batch', 'Batch'] },
      frequency: { type: 'string', enum: FREQUENCIES },
    },
    required,
    additionalProperties: false,
  },
  OperationStep: choiceOf('operation', stepsByName),
  SeriesReference: seriesSchema,
  ResultReference: {
    type: 'object',
    properties: { timeseriesId: name, metric: resultMetric },
    required: ['timeseriesId', 'metric'],
    additionalProperties: false,
  },
  ...stepComponents,
};

export const operationsBody = {
  required: true,
  content: {
    [JSON_TYPE]: {
      schema: { type: 'array', minItems: 1, maxItems: ITEMS_MAX, items: { $ref: `${schemas}/OperationItem` } },
    },
  },
};
