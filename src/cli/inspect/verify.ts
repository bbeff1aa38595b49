import { setImmediate as nextTurn } from 'node:timers/promises';
import { exactJson, jsonNumber } from '../../core/json-number.js';
import { areSameColumns, type Series, seriesName } from '../../core/series.js';
import type { Action, Difference, Verified, VerifyOptions } from '../../inspect/index.js';
import { VARIANT_COUNT, verifyEach } from '../../inspect/verify.js';
import type { Plan } from '../../plan/plan.js';
import { argumentOf, type Command, counted, countOf, type Given, textOf } from '../command.js';
import { EXIT_DONE, EXIT_FAILED, unlessMissing } from '../failure.js';
import { requestArgument } from '../files/input-options.js';
import { readPlan } from '../files/request.js';
import { type TempFiles, withTempFiles } from '../files/temp-files.js';
import type { Io } from '../terminal/io.js';
import { checkReads, type Files, fileOptions, localTime, openGiven, readSources, runOptionsOf } from './input.js';

const THREADS = 3;

export const verify: Command = {
  name: 'verify',
  summary: 'Check on your own data that a request gives the same bits whichever way it runs.',
  argument: requestArgument,
  options: [
    ...fileOptions,
    { flag: '--variants', value: 'N', summary: 'how many ways to run it (default: 24)' },
    {
      flag: '--seed',
      value: 'N',
      summary: 'the seed of random variants; the same seed gives the same variants (default: 1)',
    },
  ],
  notes: [
    'Compares the batch, bit for bit, with runs by the JavaScript kernels, over loaded series, and as streams that ' +
      'are cut at random, mix their sources, get samples in other orders within the allowed lateness, and are ' +
      'restored from checkpoints. Files are also read by several threads. The first run that differs is reduced to ' +
      'few samples that still show it. The exit code is 0 if all are the same, and 1 if one differs.',
  ],
  examples: [{ line: 'windrow verify request.json --input office.csv', does: 'check a request on your data' }],
  act: (given, io) => withTempFiles(io, (temps) => verifyFiles(given, io, temps)),
};

async function verifyFiles(given: Given, io: Io, temps: TempFiles): Promise<number> {
  const path = argumentOf(given, verify);
  const variantCount = countOf(given, '--variants', 1) ?? VARIANT_COUNT;
  const seed = countOf(given, '--seed', 0) ?? 1;
  checkReads(given, 'verify', [['the request', [path]]]);
  const plan = await readPlan(path, textOf(given, '--timezone'), io);
  const files = openGiven(given, 'verify', io, temps);
  const inputs = await readSources(plan, files, io);
  const isReadSame = await isSameByThreads(plan, files, inputs, io);
  const verified = await verifySlowly(plan, inputs, { ...runOptionsOf(given), variantCount, seed }, io);
  const same = [...(isReadSame === true ? [`read by ${THREADS} threads`] : []), ...verified.same];
  const different = isReadSame === false ? { name: `read by ${THREADS} threads` } : verified.different;
  if (given.options.has('--json')) {
    await io.stdout.write(`${exactJson({ seed, same, ...(different && { different: asJson(different) }) }, 2)}\n`);
  } else {
    await io.stdout.write(`${counted(same.length, 'variant')} gave the same bits as the batch (seed ${seed})\n`);
    if (different !== undefined) await io.stdout.write(describe(different, plan.timezone));
  }
  return different === undefined ? EXIT_DONE : EXIT_FAILED;
}

/** Runs the variants; between them it lets signals through, and shows progress on a terminal. */
async function verifySlowly(
  plan: Plan,
  inputs: readonly Series[],
  options: VerifyOptions & { readonly variantCount: number },
  io: Io,
): Promise<Verified> {
  const variants = verifyEach(plan, inputs, options);
  for (let number = 1; ; number++) {
    const { done, value } = variants.next();
    if (io.stderr.isTerminal) await io.stderr.write(CLEAR_LINE);
    if (done === true) return value;
    if (io.stderr.isTerminal) await io.stderr.write(`variant ${number} of ${options.variantCount}: ${value}`);
    await nextTurn();
  }
}

// Bytes, as text has its control characters written out.
const CLEAR_LINE = Buffer.from('\r\u001b[K');

/** Whether several threads read the same; undefined if they cannot read all of the files, or are not installed. */
async function isSameByThreads(
  plan: Plan,
  files: Files,
  inputs: Awaited<ReturnType<typeof readSources>>,
  io: Io,
): Promise<boolean | undefined> {
  if (!files.inputs.every(({ isRegular }) => isRegular)) return undefined;
  const pool = await io.threads.open(THREADS - 1).catch(unlessMissing);
  if (pool === undefined) return undefined;
  try {
    const read = await readSources(plan, files, io, pool);
    return read.length === inputs.length && read.every((series, index) => areSameColumns(series, inputs[index]!));
  } finally {
    await pool.close();
  }
}

/** Columns become lists of numbers. */
function asJson(different: Difference | { readonly name: string }): object {
  if (!('actions' in different)) return different;
  const listed = ({ timeMs, value, ...reference }: Series) => ({
    ...reference,
    timeMs: [...timeMs],
    value: [...value],
  });
  const actions = different.actions.map((action) =>
    action.kind === 'push' ? { ...action, series: action.series.map(listed) } : action,
  );
  return { ...different, actions };
}

function describe(different: Difference | { readonly name: string }, timezone: string): string {
  const lines = [`DIFFERENT: ${different.name}`];
  if ('result' in different) {
    const { series, timeMs, batch, variant } = different.result;
    const valueText = (value: number | undefined): string => (value === undefined ? 'nothing' : jsonNumber(value));
    const at = `${seriesName(series)} at ${localTime(timeMs, timezone)}`;
    lines.push(`  ${at}: the batch gives ${valueText(batch)}, the variant ${valueText(variant)}`);
    if (different.recurs) {
      lines.push('  with these samples alone:');
      lines.push(...different.actions.flatMap((action) => describeAction(action, timezone)));
    } else lines.push('  It did not come again when both ran anew; --json has all samples and calls.');
    lines.push('  Please report it with these lines: it is a bug in windrow.');
  }
  return `${lines.join('\n')}\n`;
}

function describeAction(action: Action, timezone: string): string[] {
  if (action.kind === 'advance') return [`    advance to ${localTime(action.timeMs, timezone)}`];
  if (action.kind !== 'push') return [`    ${action.kind}`];
  return action.series.flatMap((series) =>
    Array.from(series.timeMs, (timeMs, i) => {
      return `    push ${seriesName(series)} ${localTime(timeMs, timezone)} ${jsonNumber(series.value[i]!)}`;
    }),
  );
}
