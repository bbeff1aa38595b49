import { didYouMean } from '../../core/suggest.js';
import { type ClauseText, fail, take } from './clause-text.js';
import { type EventField, eventFieldNames, eventFields, isEventField } from './fields.js';

/** Reads the name of a field. Names are those of interface 2.4, letter by letter. */
export function readField(from: ClauseText, expected: string): EventField {
  const { position } = from;
  const name = take(from, /[\p{L}_][\p{L}\p{N}_]*/uy);
  if (name !== undefined && isEventField(name)) return name;
  const suggestion = name === undefined ? undefined : didYouMean(name, eventFieldNames);
  return fail(from, expected, { position, suggestion });
}

/** Reads the name of a field that is a single value, and not an object. */
export function readPlainField(from: ClauseText, purpose: string): EventField {
  const { position } = from;
  const field = readField(from, `a field of an event ${purpose}`);
  if (eventFields[field] !== 'object') return field;
  const expected = `a field ${purpose}: ${field} is an object, which can only be selected`;
  return fail(from, expected, { position, received: field });
}
