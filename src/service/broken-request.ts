import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { errorEnvelope } from './envelope.js';

const ANSWERS: Readonly<Record<string, readonly [statusCode: number, message: string]>> = {
  HPE_HEADER_OVERFLOW: [431, 'the headers and the URL are larger than 16 KiB together; ask for less at once'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'the headers of the request did not come in time'],
};

/** Answers what is no HTTP that Node can read, so that no request of it ever came to be. */
export function answerBrokenRequest(error: Error & { readonly code?: string }, socket: Socket): void {
  // A connection that is gone, or in the middle of an answer, cannot be told.
  if (error.code === 'ECONNRESET' || !socket.writable || socket.bytesWritten > 0) {
    socket.destroy();
    return;
  }
  const [statusCode, message] = ANSWERS[error.code ?? ''] ?? [400, 'this is no HTTP request'];
  const body = JSON.stringify(errorEnvelope(statusCode, message, {}));
  const head = [
    `HTTP/1.1 ${statusCode} ${STATUS_CODES[statusCode]}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}
