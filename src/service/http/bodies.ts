import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { StringDecoder } from 'node:string_decoder';
import { errorCodes, type FastifyInstance, type FastifyRequest } from 'fastify';
import pLimit from 'p-limit';
import { nextTurn } from '../../storage/next-turn.js';
import { badRequest, ServiceError } from './errors.js';
import { parseJsonBody } from './json.js';
import { SMALL_BYTES_MAX, WholeBody } from './whole-body.js';

/**
 * Parses JSON bodies and reports the place of a fault. An empty body counts as none, as many clients send the header
 * with every request.
 */
export function addJsonBodies(app: FastifyInstance): void {
  app.removeContentTypeParser(['application/json', 'text/plain']);
  addWholeBodies(app, 'application/json', (request, body) =>
    parseInTurn(body.byteCount, async () => {
      const text = await readTextBody(request, body);
      return text.trim() === '' ? undefined : parseJsonBody(text);
    }),
  );
}

/** Passes bodies of some types to a parser as a whole. */
export function addWholeBodies(
  app: FastifyInstance,
  types: string | string[],
  parse: (request: FastifyRequest, body: WholeBody) => Promise<unknown>,
): void {
  app.addContentTypeParser(types, async (request: FastifyRequest, payload: IncomingMessage) => {
    const body = new WholeBody();
    try {
      await read(request, payload, body);
      return await parse(request, body);
    } finally {
      body.release();
    }
  });
}

/** Reads a body. By events, as iterating a stream costs more. The checks are Fastify's for bodies that it reads. */
function read(request: FastifyRequest, payload: IncomingMessage, body: WholeBody): Promise<void> {
  const { bodyLimit } = request.routeOptions;
  const announced = Number(request.headers['content-length']);
  if (announced > bodyLimit) throw new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE();
  return new Promise((resolve, reject) => {
    const refuse = (error: unknown): void => {
      payload.removeAllListeners('data');
      reject(error);
    };
    payload.on('data', (part: Buffer) => {
      try {
        if (body.byteCount + part.length > bodyLimit) throw new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE();
        body.add(part);
      } catch (error) {
        refuse(error);
      }
    });
    payload.on('end', () => {
      if (Number.isNaN(announced) || body.byteCount === announced) resolve();
      else refuse(new errorCodes.FST_ERR_CTP_INVALID_CONTENT_LENGTH());
    });
    const breakOff = () => refuse(new ServiceError(400, 'the body broke off before its end'));
    payload.on('error', breakOff);
    payload.on('close', breakOff);
  });
}

const MEDIUM_BYTES_MAX = 1024 * 1024;
const mediumOnes = pLimit(16);
const largeOnes = pLimit(1);

/**
 * Parses a JSON body, of which few are parsed at a time, as it takes several times its bytes then: any number at once
 * would end the process. A body of a megabyte does not wait for larger ones.
 */
export async function parseInTurn<Value>(byteCount: number, parse: () => Promise<Value>): Promise<Value> {
  if (byteCount <= SMALL_BYTES_MAX) return parse();
  return (byteCount > MEDIUM_BYTES_MAX ? largeOnes : mediumOnes)(parse);
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
export async function readTextBody(request: FastifyRequest, { parts }: Pick<WholeBody, 'parts'>): Promise<string> {
  checkCharset(request);
  const { headers } = request;
  const { 'content-encoding': encoding = 'identity' } = headers;
  if (encoding.toLowerCase() === 'identity') return decodeParts(parts);
  const received = JSON.stringify(encoding);
  throw new ServiceError(415, `Content-Encoding: expected none at this endpoint, received ${received}`);
}
