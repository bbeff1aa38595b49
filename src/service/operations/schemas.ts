import { Type } from 'typebox';
import { operationNames } from '../../operations/index.js';
import { envelopeSchema, nullableText, oneOf, pageSchema } from '../http/envelope.js';
import { transactionStates } from '../status/transactions.js';

// For /openapi.json and for writing answers: the body is checked by the engine, with better errors.

const seriesReference = Type.Object({
  timeseriesId: Type.String(),
  metric: Type.String({ description: 'Raw: the samples as they came' }),
});

const processingType = oneOf(['stream', 'Batch']);

const operationStep = Type.Object({
  operation: oneOf(operationNames),
  input: Type.Array(seriesReference),
  output: Type.Array(seriesReference),
  parameters: Type.Optional(Type.Object({}, { additionalProperties: true })),
});

export const operationsBody = Type.Array(
  Type.Object({
    metric: Type.String({ description: 'The name of the result' }),
    operations: Type.Array(operationStep),
    processingType,
    frequency: Type.Optional(oneOf(['PT15M', 'PT1H', 'PT24H'], 'Of a batch, which runs once without it')),
  }),
);

export const operationsQuery = Type.Object(
  { dryRun: Type.Optional(Type.Boolean({ description: 'Answers with the plan and its costs, and stores nothing' })) },
  { additionalProperties: false },
);

export const deleteItemQuery = Type.Object(
  {
    keepResults: Type.Optional(Type.Boolean({ description: 'Leaves the results as a series that clients may write' })),
  },
  { additionalProperties: false },
);

export const itemParams = Type.Object({ itemId: Type.String() });

const count = Type.Integer({ description: 'At most, by what is stored now' });

export const dryRunAnswer = envelopeSchema(
  Type.Object({
    plan: Type.Object({}, { additionalProperties: true }),
    explain: Type.String(),
    items: Type.Array(
      Type.Object({
        timeseriesId: Type.String(),
        metric: Type.String(),
        processingType,
        members: Type.Union([Type.Integer(), Type.Null()], { description: 'Of a pattern: how many there are now' }),
        replaces: Type.Union([Type.String(), Type.Null()], { description: 'The item that there is of this result' }),
        plan: Type.Object({}, { additionalProperties: true }),
        explain: Type.String(),
        costs: Type.Object({
          sources: Type.Array(Type.Object({}, { additionalProperties: true })),
          samplesRead: Type.Integer(),
          samplesExpected: count,
          steps: Type.Array(Type.Object({ operation: Type.String(), output: seriesReference, samplesExpected: count })),
        }),
      }),
    ),
  }),
);

export const itemSchema = Type.Object({
  itemId: Type.String(),
  timeseriesId: Type.String({ description: 'Of the result' }),
  metric: Type.String({ description: 'Of the result' }),
  processingType,
  frequency: nullableText,
  operations: Type.Array(Type.Object({}, { additionalProperties: true })),
  sources: Type.Array(seriesReference),
  pattern: Type.Union([Type.String(), Type.Null()], {
    description: 'The item with a pattern of which this is a member',
  }),
  state: oneOf(transactionStates),
  transactionId: Type.String({ description: 'Tells of the item at /core/status' }),
  retryCount: Type.Integer(),
  message: nullableText,
  revision: Type.Integer({ description: 'Rises by one with each replacement' }),
  boundary: Type.Union([Type.String(), Type.Null()], {
    description: 'A batch with a frequency has taken the samples before this instant',
  }),
  createdTimestamp: Type.String(),
  updatedTimestamp: Type.String(),
});

export const itemAnswer = envelopeSchema(itemSchema);
export const itemsAnswer = pageSchema(itemSchema);
