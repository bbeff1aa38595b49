import { isUtf8 } from 'node:buffer';
import { StringDecoder } from 'node:string_decoder';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import pLimit from 'p-limit';
import { nextTurn } from '../../storage/next-turn.js';
import { badRequest, ServiceError, unavailable } from './errors.js';
import { parseJsonBody } from './json.js';

/**
 * Parses JSON bodies and reports the place of a fault. An empty body counts as none, as many clients send the header
 * with every request.
 */
export function addJsonBodies(app: FastifyInstance): void {
  app.removeContentTypeParser(['application/json', 'text/plain']);
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (request: FastifyRequest, body: Buffer) => {
    return parseInTurn(body.length, async () => {
      const text = await readTextBody(request, body);
      return text.trim() === '' ? undefined : parseJsonBody(text);
    });
  });
}

/** Bodies up to this are parsed at once. */
const SMALL_BYTES_MAX = 64 * 1024;
const MEDIUM_BYTES_MAX = 1024 * 1024;
const mediumOnes = pLimit(16);
const largeOnes = pLimit(1);
/** How much may wait in memory. */
const WAITING_BYTES_MAX = 256 * 1024 * 1024;
let waitingBytes = 0;

/**
 * Parses a JSON body, of which few are parsed at a time, as it takes several times its bytes then: any number at once
 * would end the process. A body of a megabyte does not wait for larger ones.
 *
 * @throws ServiceError 503 if too much waits.
 */
export async function parseInTurn<Value>(byteCount: number, parse: () => Promise<Value>): Promise<Value> {
  if (byteCount <= SMALL_BYTES_MAX) return parse();
  if (waitingBytes > 0 && waitingBytes + byteCount > WAITING_BYTES_MAX) {
    throw unavailable('too many large JSON bodies are waiting; nothing was stored, try again later');
  }
  waitingBytes += byteCount;
  const limit = byteCount > MEDIUM_BYTES_MAX ? largeOnes : mediumOnes;
  return limit(() => {
    waitingBytes -= byteCount;
    return parse();
  });
}

/** How much to decode before others are answered: some milliseconds of work. */
const TURN_BYTES = 1024 * 1024;

/** Decodes a body of any length, given in parts. @throws ServiceError 400 if it is not UTF-8. */
export async function decodeParts(parts: readonly Uint8Array[]): Promise<string> {
  const bytes = parts.length === 1 ? parts[0]! : Buffer.concat(parts);
  if (bytes.length < TURN_BYTES) return decodeBody(bytes);
  await nextTurn();
  checkUtf8(bytes, 'the body');
  const decoder = new StringDecoder('utf8');
  const texts: string[] = [];
  for (let at = 0; at < bytes.length; at += TURN_BYTES) {
    texts.push(
      decoder.write(Buffer.from(bytes.buffer, bytes.byteOffset + at, Math.min(TURN_BYTES, bytes.length - at))),
    );
    await nextTurn();
  }
  return withoutMark(texts.join(''));
}

/** Decodes a body. @throws ServiceError 400 if it is not UTF-8. */
function decodeBody(bytes: Uint8Array): string {
  return withoutMark(decodePart(bytes, 'the body'));
}

/** Decodes a part of a body. @throws ServiceError 400 if it is not UTF-8. */
export function decodePart(bytes: Uint8Array, place: string): string {
  checkUtf8(bytes, place);
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}

function checkUtf8(bytes: Uint8Array, place: string): void {
  if (!isUtf8(bytes)) throw badRequest(`${place} is not UTF-8; send its text in that encoding`);
}

/** The text of a body without a byte order mark at its start. */
export function withoutMark(text: string): string {
  return text.startsWith('\uFEFF') ? text.slice(1) : text;
}

/** The charsets that a Content-Type names; more than one is a mistake of the caller. */
export function charsetsOf(contentType = ''): string[] {
  if (!contentType.includes(';')) return [];
  return Array.from(contentType.matchAll(/;\s*charset\s*=\s*"?([^\s";]*)/gi), ([, charset = '']) => charset);
}

/** What is wrong with the charset of a Content-Type: bodies are read as UTF-8 (RFC 8259, 8.1). */
export function charsetFault(contentType: string | undefined): string | undefined {
  const other = charsetsOf(contentType).find((charset) => !/^utf-?8$/i.test(charset));
  return other === undefined ? undefined : `Content-Type: expected charset=UTF-8 or none, received ${other}`;
}

/** @throws ServiceError 415 if the header names a charset other than UTF-8. */
export function checkCharset({ headers }: Pick<FastifyRequest, 'headers'>): void {
  const fault = charsetFault(headers['content-type']);
  if (fault !== undefined) throw new ServiceError(415, fault);
}

/**
 * The text of a body that was read as a whole.
 *
 * @throws ServiceError 415 if it is compressed or said to be in another charset, 400 if it is not UTF-8.
 */
export async function readTextBody(request: FastifyRequest, body: Buffer): Promise<string> {
  checkCharset(request);
  const { headers } = request;
  const { 'content-encoding': encoding = 'identity' } = headers;
  if (encoding.toLowerCase() === 'identity') return decodeParts([body]);
  const received = JSON.stringify(encoding);
  throw new ServiceError(415, `Content-Encoding: expected none at this endpoint, received ${received}`);
}
