import { Type } from 'typebox';
import { envelopeSchema, orNull, pageSchema, textOrNull } from '../http/envelope.js';
import { csvQuery } from './write/csv-query.js';

// The input and output of the routes, for checks and for /openapi.json.

export const seriesParams = Type.Object({
  timeseriesId: Type.String({ minLength: 1, maxLength: 256, description: 'In the URL percent-encoded, as clients do' }),
});

/** A query without other parameters. */
const only = <Properties extends Type.TProperties>(properties: Properties) =>
  Type.Object(properties, { additionalProperties: false });

const metric = Type.Optional(Type.String({ minLength: 1, maxLength: 256, description: 'Raw by default' }));

const range = {
  startTime: Type.Optional(Type.String({ description: 'Start, included; ISO 8601' })),
  endTime: Type.Optional(Type.String({ description: 'End, excluded; ISO 8601' })),
};

const reading = {
  metric,
  ...range,
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      description: 'JSON: samples per page, 10,000 by default, 100,000 at most; other forms: in all',
    }),
  ),
  orderby: Type.Optional(Type.String({ description: 'timestamp asc (default) or timestamp desc' })),
  finalOnly: Type.Optional(Type.Boolean({ description: 'Leaves out results that the next sample may change' })),
};

const ids = Type.Union([Type.String({ minLength: 1 }), Type.Array(Type.String(), { minItems: 1 })], {
  description: 'Ids separated by commas, or given several times',
});

export const metricQuery = only({ metric });
export const ingestQuery = only({ metric, ...csvQuery });
export const samplesQuery = only(reading);
export const manySamplesQuery = only({ timeseries_ids: ids, ...reading });
export const followQuery = only({ timeseries_ids: ids, metric });
export const listQuery = only({ timeseriesId: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })) });
export const whyQuery = only({
  metric,
  time: Type.String({ minLength: 1, description: 'The time of the result, ISO 8601' }),
});
export const deleteQuery = only({
  metric,
  ...range,
  all: Type.Optional(Type.Boolean({ description: 'Required to delete all samples, without startTime and endTime' })),
});

export const ingestedAnswer = envelopeSchema(
  Type.Object({
    samples: Type.Integer({ description: 'Stored durably' }),
    missing: Type.Integer({ description: 'Skipped: val was null, NaN or infinite' }),
    duplicate: Type.Integer({
      description:
        'Skipped: the body has the same series and time again later, in a long body within some 50,000 samples',
    }),
    isRepeated: Type.Boolean({ description: 'The offset was stored before: nothing was done' }),
    rejected: Type.Optional(
      Type.Integer({
        description: 'Rows of a CSV that cannot be read, left out as onBadRow=skip says; absent if none',
      }),
    ),
    notes: Type.Optional(
      Type.Array(Type.String(), {
        description: 'How a CSV body was read, such as columns that were left out, and the first rows left out',
      }),
    ),
  }),
);

export const seriesAnswer = pageSchema(
  Type.Object(
    {
      timeseriesId: Type.String(),
      metrics: Type.Array(
        Type.Object({
          metric: Type.String(),
          sampleCount: Type.Integer(),
          firstTimestamp: textOrNull(),
          lastTimestamp: textOrNull(),
          itemId: textOrNull('The item whose result it is'),
        }),
      ),
    },
    { title: 'StoredSeries' },
  ),
);

const reference = { timeseriesId: Type.String(), metric: Type.String() };

const sampleList = Type.Object({
  count: Type.Integer(),
  samples: Type.Array(
    Type.Object({
      timestamp: Type.String(),
      val: Type.Number(),
      reason: Type.Optional(Type.String({ description: 'Why it was left out' })),
    }),
    { description: 'The first thousand' },
  ),
});

const usedInput = Type.Object({ ...reference, used: sampleList, leftOut: sampleList });

export const whyAnswer = envelopeSchema(
  Type.Object({
    ...reference,
    timestamp: Type.String(),
    val: Type.Number(),
    itemId: Type.String({ description: 'The item whose result it is' }),
    steps: Type.Array(
      Type.Object({
        pointer: Type.String({ description: 'The place of the step in the request' }),
        operation: Type.String(),
        does: Type.String(),
        output: Type.Object(reference),
        window: Type.Union([
          Type.Object({ startTime: Type.String(), endTime: Type.String(), timezone: Type.String() }),
          Type.Null(),
        ]),
        results: sampleList,
        inputs: Type.Array(usedInput),
        isProved: Type.Boolean({
          description: 'Whether the results are bit for bit the same if all other samples are removed or changed',
        }),
      }),
      { description: 'From the last step backwards' },
    ),
    sources: Type.Array(usedInput),
  }),
);

export const deletedAnswer = envelopeSchema(
  Type.Object({
    samplesDeleted: orNull(
      Type.Integer({
        description: 'Null if some of them were damaged on the disk, so that nobody can count them; all are deleted',
      }),
    ),
  }),
);
