import { Type } from 'typebox';
import { envelopeSchema, oneOf, orNull, pageSchema, textOrNull } from '../http/envelope.js';
import { transactionStates } from '../status/request-states.js';

// For /openapi.json and for serialising answers. The body is in openapi.ts.

const seriesReference = Type.Object(
  {
    timeseriesId: Type.String(),
    metric: Type.String({ description: 'Raw: the samples as they were written' }),
  },
  { title: 'Series' },
);

const processingType = oneOf(['stream', 'Batch']);

export const operationsQuery = Type.Object(
  { dryRun: Type.Optional(Type.Boolean({ description: 'Returns the plan and its costs without storing anything' })) },
  { additionalProperties: false },
);

export const deleteItemQuery = Type.Object(
  {
    keepResults: Type.Optional(Type.Boolean({ description: 'Keeps the results as a series that clients may write' })),
  },
  { additionalProperties: false },
);

export const itemParams = Type.Object({ itemId: Type.String() });

const count = Type.Integer({ description: 'At most, from what is stored now' });

export const dryRunAnswer = envelopeSchema(
  Type.Object({
    plan: Type.Object({}, { additionalProperties: true }),
    explain: Type.String(),
    items: Type.Array(
      Type.Object({
        timeseriesId: Type.String(),
        metric: Type.String(),
        processingType,
        members: orNull(Type.Integer({ description: 'For a pattern: how many there are now' })),
        replaces: textOrNull('The existing item of this result'),
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

export const itemSchema = Type.Object(
  {
    itemId: Type.String(),
    timeseriesId: Type.String({ description: 'Of the result' }),
    metric: Type.String({ description: 'Of the result' }),
    processingType,
    frequency: textOrNull(),
    operations: Type.Array(Type.Object({}, { title: 'OperationStep', additionalProperties: true })),
    sources: Type.Array(seriesReference),
    pattern: textOrNull('The pattern item that this is a member of'),
    state: oneOf(transactionStates),
    transactionId: Type.String({ description: "The item's transaction at /core/status" }),
    retryCount: Type.Integer(),
    message: textOrNull(),
    revision: Type.Integer({ description: 'Increases by one with each replacement' }),
    boundary: textOrNull('A batch with a frequency has computed the samples before this instant'),
    createdTimestamp: Type.String(),
    updatedTimestamp: Type.String(),
  },
  { title: 'Item' },
);

export const itemAnswer = envelopeSchema(itemSchema);
export const itemsAnswer = pageSchema(itemSchema);
