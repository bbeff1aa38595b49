import { CheckpointError, describeValue } from '../../core/errors.js';
import { hashBytes, hashText } from '../../core/hash.js';
import { isTyped } from '../../core/typed-array.js';
import type { Plan } from '../../plan/plan.js';
import type { RunSettings } from '../options.js';

/**
 * The format of a checkpoint: a header, numbers, and a hash of everything before it. Most numbers of a state are zero
 * or small counts, so a number is a tag and as many bytes as it needs.
 *
 * Layout, little-endian: four letters, version (1 byte), hash of plan and options (8 bytes), numbers, hash of all
 * bytes before it (8 bytes).
 */

const VERSIONS = { WRCP: 2, WRFC: 3 } as const;
const HEADER_LENGTH = 13;
const SUM_LENGTH = 8;
const NUMBER_LENGTH_MAX = 9;

/** The kind of a checkpoint: `WRCP` of a stream, `WRFC` of a fleet. */
export type Letters = 'WRCP' | 'WRFC';

export interface CheckpointWriter {
  add(value: number): void;
  /** The whole checkpoint. Nothing can be added after this. */
  finish(): Uint8Array;
}

/** @param sizeHint the likely number of bytes, so that memory is allocated once. */
export function createWriter(letters: Letters, plan: Plan, settings: RunSettings, sizeHint: number): CheckpointWriter {
  let bytes = new Uint8Array(Math.max(sizeHint, 256));
  let view = new DataView(bytes.buffer);
  for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
  bytes[letters.length] = VERSIONS[letters];
  view.setBigUint64(letters.length + 1, planHash(plan, settings), true);
  let at = HEADER_LENGTH;
  return {
    add: (value) => {
      if (at + NUMBER_LENGTH_MAX + SUM_LENGTH > bytes.length) {
        const larger = new Uint8Array(2 * bytes.length);
        larger.set(bytes);
        bytes = larger;
        view = new DataView(bytes.buffer);
      }
      at = writeNumber(view, at, value);
    },
    finish: () => {
      view.setBigUint64(at, hashBytes(bytes, at), true);
      return bytes.slice(0, at + SUM_LENGTH);
    },
  };
}

/**
 * Checks a checkpoint and returns a function that reads its numbers one after another.
 *
 * @throws CheckpointError for bytes that are not a checkpoint of this kind, version, plan and options. The returned
 *   function throws it when there are no more numbers.
 */
export function openCheckpoint(letters: Letters, bytes: Uint8Array, plan: Plan, settings: RunSettings): () => number {
  checkHeader(letters, bytes);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = bytes.length - SUM_LENGTH;
  if (view.getBigUint64(end, true) !== hashBytes(bytes, end)) {
    throw new CheckpointError('checkpoint.format', 'the checkpoint is damaged');
  }
  if (view.getBigUint64(5, true) !== planHash(plan, settings)) {
    throw new CheckpointError(
      'checkpoint.plan',
      'the checkpoint belongs to another plan or other options (timezone, from, until, allowedLateness); ' +
        'restore it with the plan and the options that it was written with',
    );
  }
  let at = HEADER_LENGTH;
  return () => {
    const tag = at < end ? view.getUint8(at) : TAG_DOUBLE;
    const from = at + 1;
    at += tag === TAG_DOUBLE ? NUMBER_LENGTH_MAX : tag === TAG_UINT32 ? 5 : tag === TAG_UINT16 ? 3 : 1;
    if (at > end) throw new CheckpointError('checkpoint.format', 'the checkpoint is damaged');
    if (tag === TAG_DOUBLE) return view.getFloat64(from, true);
    if (tag === TAG_UINT32) return view.getUint32(from, true);
    if (tag === TAG_UINT16) return view.getUint16(from, true);
    return tag === TAG_NEGATIVE_INFINITY ? Number.NEGATIVE_INFINITY : tag;
  };
}

function checkHeader(letters: Letters, bytes: unknown): asserts bytes is Uint8Array {
  if (!isTyped(bytes, 'Uint8Array')) {
    const received = describeValue(bytes);
    throw new CheckpointError(
      'checkpoint.format',
      `bytes: expected the Uint8Array of a checkpoint, received ${received}`,
    );
  }
  if (bytes.length < HEADER_LENGTH + SUM_LENGTH || !letters.startsWith(String.fromCharCode(...bytes.slice(0, 4)))) {
    const kind = letters === 'WRCP' ? 'a stream' : 'a fleet';
    throw new CheckpointError('checkpoint.format', `the bytes are not a checkpoint of ${kind} of windrow`);
  }
  if (bytes[4] !== VERSIONS[letters]) {
    const expected = `expected version ${VERSIONS[letters]}, received ${bytes[4]}`;
    throw new CheckpointError(
      'checkpoint.version',
      `the checkpoint is of another version: ${expected}; run the input again`,
    );
  }
}

const TAG_DOUBLE = 255;
const TAG_UINT16 = 254;
const TAG_UINT32 = 253;
const TAG_NEGATIVE_INFINITY = 252;
const SMALL_COUNT = 252;

function writeNumber(view: DataView, at: number, value: number): number {
  const isWhole = Number.isInteger(value) && value >= 0 && value < 2 ** 32 && !Object.is(value, -0);
  if (value === Number.NEGATIVE_INFINITY || (isWhole && value < SMALL_COUNT)) {
    view.setUint8(at, isWhole ? value : TAG_NEGATIVE_INFINITY);
    return at + 1;
  }
  if (isWhole && value < 2 ** 16) {
    view.setUint8(at, TAG_UINT16);
    view.setUint16(at + 1, value, true);
    return at + 3;
  }
  view.setUint8(at, isWhole ? TAG_UINT32 : TAG_DOUBLE);
  if (isWhole) view.setUint32(at + 1, value, true);
  else view.setFloat64(at + 1, value, true);
  return at + (isWhole ? 5 : NUMBER_LENGTH_MAX);
}

/** The last hash of each plan, with its settings: a run writes many checkpoints, and most runs of a plan are alike. */
const hashes = new WeakMap<Plan, { readonly key: string; readonly hash: bigint }>();

function planHash(plan: Plan, { fromMs, untilMs, allowedLatenessMs }: RunSettings): bigint {
  const settings = [String(fromMs), untilMs ?? null, allowedLatenessMs];
  const key = settings.join();
  const last = hashes.get(plan);
  if (last?.key === key) return last.hash;
  const { timezone, sources, steps, items } = plan;
  const hash = hashText(JSON.stringify([timezone, sources, steps, items, ...settings]));
  hashes.set(plan, { key, hash });
  return hash;
}
