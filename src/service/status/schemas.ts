import { Type } from 'typebox';
import { envelopeSchema, oneOf, pageSchema, textOrNull } from '../http/envelope.js';
import { transactionStates } from './request-states.js';

export const transactionSchema = Type.Object(
  {
    id: Type.String(),
    enqueuedTimestamp: Type.String({ description: 'ISO 8601 with fractional seconds and UTC offset' }),
    receivedTimestamp: Type.String({ description: 'As enqueuedTimestamp' }),
    messageType: oneOf(['Request', 'Item'], 'Item for one of the items of a request'),
    requestAction: oneOf(['Create', 'Replace'], 'Replace if the item existed before'),
    state: oneOf(transactionStates),
    requestObject: oneOf(['Operations', 'Operation'], 'Operation for one of the items of a request'),
    transactionIDList: Type.Array(Type.String(), {
      description: 'For a request: those of its items, in their order. For an item: that of its request',
    }),
    payload: Type.Object({
      Id: Type.String({ description: 'Of the item' }),
      TimeseriesId: Type.String({ description: 'Of the result' }),
      OrgId: Type.String(),
      TimeseriesType: Type.String({ description: 'The metric of the result' }),
      status: oneOf(transactionStates, 'The state'),
    }),
    retryCount: Type.Integer(),
    message: textOrNull('What failed'),
    sender: Type.String({ description: 'The client' }),
    recipient: Type.String(),
    correlationId: Type.String(),
    timeout: Type.Number(),
    topic: textOrNull(),
  },
  { title: 'Transaction' },
);

export const statusAnswer = envelopeSchema(transactionSchema);
export const statusPageAnswer = pageSchema(transactionSchema);
