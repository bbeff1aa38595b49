import { describe, expect, it } from 'vitest';
import { type ErrorCode, errorCodes } from '../../src/core/errors.js';
import { httpStatusOf } from '../../src/service/http/errors.js';

// Errors that a caller over HTTP cannot cause, or faults of the service: 500, and logged.
const OURS: readonly string[] = [
  'input.plan',
  'input.missing',
  'stream.closed',
  'storage.claim',
  'storage.duplicate',
  'storage.key',
  'storage.damaged',
];
// Errors of the command, and of starting the service.
const OF_THE_COMMAND = /^(?:arguments|file\.|identity\.|control\.|storage\.missing$)|^checkpoint\./;

describe('the HTTP status of errors', () => {
  it('every code has a status, is a fault of the service, or never occurs over HTTP: exactly one of these', () => {
    for (const code of Object.keys(errorCodes) as ErrorCode[]) {
      const places = [httpStatusOf(code) !== undefined, OURS.includes(code), OF_THE_COMMAND.test(code)];
      expect([code, places.filter(Boolean).length]).toEqual([code, 1]);
    }
  });

  it('errors in a request are 400', () => {
    for (const code of Object.keys(errorCodes) as ErrorCode[]) {
      if (code.startsWith('request.') || code.startsWith('csv.')) expect(httpStatusOf(code)).toBe(400);
    }
  });
});
