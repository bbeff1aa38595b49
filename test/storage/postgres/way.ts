// A proxy before PostgreSQL that answers in the server's place as one does that is away, starting or locked.
import { connect, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { createDatabase, type TestDatabase } from './open.js';

/** How the proxy answers a connection. */
export type Answer = (socket: Socket) => void;

/** An ErrorResponse of PostgreSQL's protocol. */
export function serverError(severity: 'FATAL' | 'PANIC', code: string, message: string): Buffer {
  const fields = Buffer.from(`S${severity}\0V${severity}\0C${code}\0M${message}\0\0`);
  const head = Buffer.from('E\0\0\0\0');
  head.writeInt32BE(fields.length + 4, 1);
  return Buffer.concat([head, fields]);
}

export function refusal(code: string, message: string): Answer {
  return (socket) => void socket.once('data', () => socket.end(serverError('FATAL', code, message)));
}

export const isStarting = refusal('57P03', 'the database system is starting up');
export const isSilent: Answer = () => {};
export const isGone: Answer = (socket) => void socket.destroy();
export const hasNoTls: Answer = (socket) => void socket.once('data', () => socket.write('N'));
/** AuthenticationSASL and AuthenticationSASLContinue: it asks for a password. */
export const asksPassword: Answer = (socket) => {
  const messages = ['R\0\0\0\x17\0\0\0\x0aSCRAM-SHA-256\0\0', 'R\0\0\0\x09\0\0\0\x0br'];
  socket.on('data', () => socket.write(Buffer.from(messages.shift() ?? '', 'latin1')));
};

export interface Way {
  readonly database: TestDatabase;
  readonly address: (user?: string) => string;
  /** How many connections have come. */
  readonly count: () => number;
  /** Passes all connections on from now on. */
  open(): void;
}

/**
 * A proxy before a new database. It answers the first `answeredCount` connections itself: by the answers one after the
 * other, then by the last of them. Both are removed after the test.
 */
export async function openWay(answers: readonly Answer[], answeredCount: number): Promise<Way> {
  const database = await createDatabase();
  onTestFinished(() => database.remove());
  const { pathname, searchParams } = new URL(database.address.replace('@/', '@socket/'));
  const path = `${searchParams.get('host')}/.s.PGSQL.5432`;
  let count = 0;
  let isOpen = false;
  const server = createServer((socket) => {
    socket.on('error', () => {});
    const answer = answers[Math.min(count, answers.length - 1)];
    count++;
    if (answer !== undefined && count <= answeredCount && !isOpen) return answer(socket);
    const way = connect(path);
    way.on('error', () => socket.destroy());
    way.on('close', () => socket.destroy());
    way.pipe(socket).pipe(way);
  });
  onTestFinished(() => void server.close());
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  const { port } = server.address() as { port: number }; // `as`: a TCP server has a port
  return {
    database,
    address: (user = 'windrow') => `postgres://${user}@127.0.0.1:${port}${pathname}`,
    count: () => count,
    open: () => {
      isOpen = true;
    },
  };
}
