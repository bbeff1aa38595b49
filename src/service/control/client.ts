import { request } from 'node:http';
import { type ErrorCode, WindrowError } from '../../core/errors.js';
import type { Administration } from '../identity/administration.js';
import type { ControlFile } from './control-file.js';
import { type ControlAnswer, type ControlRequest, controlCommands } from './messages.js';

const TIMEOUT_MS = 30_000;

/** The `Administration` of the process that holds the store. */
export function remoteAdministration(control: ControlFile): Administration {
  const functions = controlCommands.map((command) => [
    command,
    (parameters: unknown) => ask(control, { command, parameters }),
  ]);
  // Every function of the interface is among the commands, and answers what the function itself would.
  return Object.freeze(Object.fromEntries(functions)) as Administration;
}

/** No process listens there any more. */
export class ControlGoneError extends WindrowError {}

async function ask(control: ControlFile, request: ControlRequest): Promise<unknown> {
  const { statusCode, text } = await post(control, JSON.stringify(request));
  if (statusCode !== 200) throw failed(`it answered ${statusCode}; its log may tell more`);
  // Written by startControl.
  const answer = JSON.parse(text) as ControlAnswer;
  if ('error' in answer) throw new WindrowError(answer.error.code, answer.error.message);
  return answer.result;
}

function post({ port, key }: ControlFile, body: string): Promise<{ statusCode: number; text: string }> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const options = { host: '127.0.0.1', port, method: 'POST', headers, timeout: TIMEOUT_MS, agent: false };
    const sent = request(options, (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('end', () =>
        resolve({ statusCode: response.statusCode ?? 0, text: Buffer.concat(parts).toString('utf8') }),
      );
      response.on('error', reject);
    });
    sent.on('timeout', () => sent.destroy(failed(`no answer within ${TIMEOUT_MS / 1000} seconds`)));
    sent.on('error', (error) => reject(isRefused(error) ? gone(error) : error));
    sent.end(body);
  });
}

function isRefused(error: Error): boolean {
  return 'code' in error && error.code === 'ECONNREFUSED';
}

function gone(cause: Error): ControlGoneError {
  const code: ErrorCode = 'control.failed';
  return new ControlGoneError(code, 'the process that holds the store does not listen any more', { cause });
}

function failed(problem: string): WindrowError {
  return new WindrowError('control.failed', `the process that holds the store could not be asked: ${problem}`);
}
