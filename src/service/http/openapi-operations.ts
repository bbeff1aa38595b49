import type { JsonSchema } from '../../operations/parameters.js';
import { outputSchema, seriesSchema, stepSchemas } from '../../plan/request-schema.js';
import { JSON_TYPE } from './media-types.js';

// The body of POST /operations, for /openapi.json. It is not in the schemas of the routes: the planner checks requests,
// with better errors.

const schemas = '#/components/schemas';
const series = { $ref: `${schemas}/SeriesReference` };
const steps = stepSchemas({ series, output: { $ref: `${schemas}/ResultReference` } });

/** `OperationStep` is a choice of these, of which each operation has one: `RoundStep`. */
const stepComponents = Object.fromEntries(
  Object.entries(steps).map(([operation, schema]) => [`${operation.replaceAll(' ', '')}Step`, schema]),
);

const name = { type: 'string', minLength: 1, maxLength: 256 };

const item: JsonSchema = {
  type: 'object',
  properties: {
    metric: { ...name, description: 'The name of the result' },
    operations: { type: 'array', minItems: 1, maxItems: 1000, items: { $ref: `${schemas}/OperationStep` } },
    processingType: {
      type: 'string',
      enum: ['stream', 'Stream', 'batch', 'Batch'],
      description: 'stream: computed as samples arrive; batch: at the boundaries of its frequency, or once',
    },
    frequency: {
      type: 'string',
      enum: ['PT15M', 'PT1H', 'PT24H'],
      description: 'Of a batch; without it, it runs once',
    },
  },
  required: ['metric', 'operations', 'processingType'],
  additionalProperties: false,
};

/** The components that the body refers to. */
export const operationComponents: Readonly<Record<string, JsonSchema>> = {
  OperationItem: item,
  OperationStep: {
    oneOf: Object.keys(stepComponents).map((component) => ({ $ref: `${schemas}/${component}` })),
    description: 'Names of operations, functions and choices may be written in any case; here they are as documented',
  },
  SeriesReference: seriesSchema,
  ResultReference: outputSchema(series),
  ...stepComponents,
};

export const operationsBody = {
  required: true,
  content: {
    [JSON_TYPE]: {
      schema: { type: 'array', minItems: 1, maxItems: 1000, items: { $ref: `${schemas}/OperationItem` } },
    },
  },
};
