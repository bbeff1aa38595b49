import { describeValue, RequestError, WindrowError } from '../../core/errors.js';
import { findRepeatedKey } from '../../formats/json-keys.js';
import { planEvery } from '../../plan/patterns.js';
import type { Plan } from '../../plan/plan.js';
import { defined } from '../command.js';
import { fileFailure } from '../failure.js';
import type { Io } from '../terminal/io.js';
import { arrivingFrom, existingFile } from './inputs.js';

/** Reads a request file (`-` is standard input) and plans it. */
export async function readPlan(path: string, timezone: string | undefined, io: Io): Promise<Plan> {
  const text = path === '-' ? await readStandardInput(io) : readFile(path, io);
  const name = path === '-' ? 'standard input' : path;
  const request = await parseRequest(text, name);
  try {
    const plan = planEvery(request, defined({ timezone }));
    checkChains(plan);
    return plan;
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    const { describeIssuesIn } = await import('../../formats/json-place.js');
    throw new WindrowError(error.code, `${name}: ${describeIssuesIn(text, name, error.issues)}`, { cause: error });
  }
}

/** Steps hand over their samples to the next one by a call, so many in a row would overflow the stack. */
const CHAIN_STEPS_MAX = 1000;

function checkChains({ steps }: Plan): void {
  const lengths: number[] = [];
  for (const { pointer, inputs } of steps) {
    const before = inputs.map(({ from, index }) => (from === 'step' ? lengths[index]! : 0));
    const length = Math.max(...before) + 1;
    lengths.push(length);
    if (length <= CHAIN_STEPS_MAX) continue;
    const expected = `at most ${CHAIN_STEPS_MAX} steps, each of which reads the one before`;
    const advice = 'write the results of a part to a file, and read that';
    throw new RequestError([{ pointer, code: 'request.range', expected, received: `step ${length}; ${advice}` }]);
  }
}

function readFile(path: string, io: Io): string {
  existingFile(path, io);
  try {
    return io.fs.readFileSync(path, 'utf8');
  } catch (error) {
    throw fileFailure(error, path, 'read');
  }
}

async function readStandardInput(io: Io): Promise<string> {
  const blocks: Uint8Array[] = [];
  for await (const block of arrivingFrom(io.stdin().bytes, 'standard input')) blocks.push(block);
  return Buffer.concat(blocks).toString('utf8');
}

async function parseRequest(text: string, name: string): Promise<unknown> {
  const json = text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
  let request: unknown;
  try {
    request = JSON.parse(json);
  } catch (error) {
    const { findJsonFault } = await import('../../formats/json-fault.js');
    const fault = findJsonFault(json);
    if (fault === undefined) throw error;
    const mend = fault.suggestion === undefined ? '' : `; ${fault.suggestion}`;
    const problem = `not JSON: expected ${fault.expected}, received ${fault.received}${mend}`;
    throw await problemAt({ name, json, offset: fault.offset }, problem);
  }
  const repeated = findRepeatedKey(json);
  if (repeated === undefined) return request;
  const problem = `expected each key of an object once, received ${describeValue(repeated.key)} twice`;
  throw await problemAt({ name, json, offset: repeated.offset }, problem);
}

interface Place {
  readonly name: string;
  readonly json: string;
  readonly offset: number;
}

async function problemAt({ name, json, offset }: Place, problem: string): Promise<WindrowError> {
  const { placeOf, showPlace } = await import('../../formats/json-place.js');
  const { line, column } = placeOf(json, offset);
  return new WindrowError('request.json', `${name}:${line}:${column}: ${problem}\n${showPlace(json, offset)}`);
}
