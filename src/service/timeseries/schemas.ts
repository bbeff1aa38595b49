import { Type } from 'typebox';
import { envelopeSchema, nullableText, pageSchema } from '../http/envelope.js';

// What the routes take and give, for checking and for /openapi.json.

export const seriesParams = Type.Object({
  timeseriesId: Type.String({ minLength: 1, maxLength: 256, description: 'percent-encoded' }),
});

/** A query that has no other parameters. */
const only = <Properties extends Type.TProperties>(properties: Properties) =>
  Type.Object(properties, { additionalProperties: false });

const metric = Type.Optional(Type.String({ minLength: 1, maxLength: 256, description: 'Raw by default' }));

const range = {
  startTime: Type.Optional(Type.String({ description: 'The first instant, ISO 8601' })),
  endTime: Type.Optional(Type.String({ description: 'The instant that is no longer in it' })),
};

const reading = {
  metric,
  ...range,
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      description: 'JSON: samples of a page, 10,000 by default, 100,000 at most; else of all',
    }),
  ),
  orderby: Type.Optional(Type.String({ description: 'timestamp asc (default) or timestamp desc' })),
  finalOnly: Type.Optional(Type.Boolean({ description: 'Leaves out results that the next sample may still change' })),
};

const ids = Type.Union([Type.String({ minLength: 1 }), Type.Array(Type.String(), { minItems: 1 })], {
  description: 'Ids separated by commas, or given several times',
});

export const metricQuery = only({ metric });
export const samplesQuery = only(reading);
export const manySamplesQuery = only({ timeseries_ids: ids, ...reading });
export const followQuery = only({ timeseries_ids: ids, metric });
export const listQuery = only({ timeseriesId: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })) });
export const deleteQuery = only({
  metric,
  ...range,
  all: Type.Optional(Type.Boolean({ description: 'Says that all is meant where neither time is given' })),
});

export const ingestedAnswer = envelopeSchema(
  Type.Object({
    samples: Type.Integer({ description: 'Stored, and on the disk' }),
    missing: Type.Integer({ description: 'Left out: val was null, NaN or infinite' }),
    duplicate: Type.Integer({ description: 'Left out: the same series and time came again later in the body' }),
    isRepeated: Type.Boolean({ description: 'The offset was taken before: nothing was done' }),
  }),
);

export const seriesAnswer = pageSchema(
  Type.Object({
    timeseriesId: Type.String(),
    metrics: Type.Array(
      Type.Object({
        metric: Type.String(),
        sampleCount: Type.Integer(),
        firstTimestamp: nullableText,
        lastTimestamp: nullableText,
        itemId: Type.Union([Type.String(), Type.Null()], { description: 'The item whose result it is' }),
      }),
    ),
  }),
);

export const deletedAnswer = envelopeSchema(Type.Object({ samplesDeleted: Type.Integer() }));
