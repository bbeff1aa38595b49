import { Type } from 'typebox';
import { envelopeSchema, nullableText, pageSchema } from '../http/envelope.js';

export const transactionSchema = Type.Object({
  id: Type.String(),
  enqueuedTimestamp: Type.String({ description: 'ISO 8601 with fractional seconds and UTC offset' }),
  receivedTimestamp: Type.String({ description: 'Likewise' }),
  messageType: Type.String({ description: 'Request, or Item for one of its items' }),
  requestAction: Type.String({ description: 'Create, or Replace where an item was there before' }),
  state: Type.String({ description: 'Created, Running, Active, Completed or Failed' }),
  requestObject: Type.String({ description: 'Operations, or Operation for one of its items' }),
  transactionIDList: Type.Array(Type.String(), {
    description: "Of a request: those of its items, in their order. Of an item: its request's",
  }),
  payload: Type.Object({
    Id: Type.String({ description: 'Of the item' }),
    TimeseriesId: Type.String({ description: 'Of the result' }),
    OrgId: Type.String(),
    TimeseriesType: Type.String({ description: 'The metric of the result' }),
    status: Type.String({ description: 'The state' }),
  }),
  retryCount: Type.Integer(),
  message: Type.Union([Type.String(), Type.Null()], { description: 'What failed' }),
  sender: Type.String({ description: 'The client' }),
  recipient: Type.String(),
  correlationId: Type.String(),
  timeout: Type.Number(),
  topic: nullableText,
});

export const statusAnswer = envelopeSchema(transactionSchema);
export const statusPageAnswer = pageSchema(transactionSchema);
