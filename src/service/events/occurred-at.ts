import { formatInstant, readInstant } from '../../core/instant.js';

/**
 * Reads an ISO 8601 instant into the one form in which `occurredAt` is stored and shown: UTC with milliseconds.
 * Finer digits are cut off as text, since the nearest double of such a time may be the next millisecond.
 */
export function readOccurredAt(text: string): { readonly occurredAt: string } | { readonly problem: string } {
  const reading = readInstant(text.replace(/(\.\d{3})\d+/, '$1'));
  return 'problem' in reading ? reading : { occurredAt: formatInstant(reading.timeMs) };
}
