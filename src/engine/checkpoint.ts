import { CheckpointError } from '../core/errors.js';
import { hashText } from '../core/hash.js';
import type { DoubleList } from '../core/list.js';
import type { Plan } from '../plan/plan.js';
import { countsToList, SOURCE_COUNT_LENGTH, STEP_COUNT_LENGTH, setCounts } from './counts.js';
import type { Graph } from './graph.js';
import type { RunSettings } from './options.js';

/**
 * A checkpoint is the states written out: a header, then numbers in the order of the graph, then a sum over all.
 * Most numbers of a state are zero or small counts, so a number is a tag and as many bytes as it needs.
 *
 * Layout, little-endian: 'WRCP', version (1 byte), hash of plan and options (8 bytes), numbers, hash of all
 * bytes before it (8 bytes).
 */

const MAGIC = [0x57, 0x52, 0x43, 0x50];
const VERSION = 1;
const HEADER_LENGTH = 13;
const SUM_LENGTH = 8;

/** What a stream remembers besides the states of its graph. */
export interface Progress {
  advancedMs: number;
  unused: number;
}

export function writeCheckpoint(plan: Plan, settings: RunSettings, graph: Graph, progress: Progress): Uint8Array {
  const numbers = collect(graph, progress);
  const bytes = new Uint8Array(HEADER_LENGTH + 9 * numbers.length + SUM_LENGTH);
  const view = new DataView(bytes.buffer);
  bytes.set(MAGIC);
  bytes[4] = VERSION;
  view.setBigUint64(5, planHash(plan, settings), true);
  let at = HEADER_LENGTH;
  for (const value of numbers) at = writeNumber(view, at, value);
  view.setBigUint64(at, hashText(latin(bytes, at)), true);
  return bytes.slice(0, at + SUM_LENGTH);
}

/** Puts the numbers of a checkpoint into a new graph. @throws CheckpointError */
export function readCheckpoint(
  bytes: Uint8Array,
  plan: Plan,
  settings: RunSettings,
  graph: Graph,
  progress: Progress,
): void {
  if (bytes.length < HEADER_LENGTH + SUM_LENGTH || MAGIC.some((byte, index) => bytes[index] !== byte)) {
    throw new CheckpointError('checkpoint.format', 'the bytes are not a checkpoint of windrow');
  }
  if (bytes[4] !== VERSION) {
    const expected = `expected version ${VERSION}, received ${bytes[4]}`;
    throw new CheckpointError(
      'checkpoint.version',
      `the checkpoint is of another version: ${expected}; run the input again`,
    );
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = bytes.length - SUM_LENGTH;
  if (view.getBigUint64(end, true) !== hashText(latin(bytes, end))) {
    throw new CheckpointError('checkpoint.format', 'the checkpoint is damaged: its sum does not fit its bytes');
  }
  if (view.getBigUint64(5, true) !== planHash(plan, settings)) {
    throw new CheckpointError(
      'checkpoint.plan',
      'the checkpoint belongs to another plan, or to other options (timezone, from, until, allowedLateness); ' +
        'restore it with those that it was made with',
    );
  }
  restore(readNumbers(view, end), graph, progress);
}

function collect(graph: Graph, progress: Progress): number[] {
  const numbers: number[] = [progress.advancedMs, progress.unused];
  const addList = (list: DoubleList): void => {
    numbers.push(list.length);
    for (let i = 0; i < list.length; i++) numbers.push(list.at(i));
  };
  for (const { state, counts } of graph.sources) {
    numbers.push(...countsToList(counts), ...state.slots);
    addList(state.pendingTimes);
    addList(state.pendingValues);
  }
  for (const { nodes, counts } of graph.steps) {
    for (const own of counts) numbers.push(...countsToList(own));
    for (const { state } of nodes) {
      if (state === undefined) continue;
      numbers.push(...state.slots);
      for (const list of state.lists) addList(list);
    }
  }
  return numbers;
}

function restore(numbers: readonly number[], graph: Graph, progress: Progress): void {
  let at = 0;
  const take = (count: number): readonly number[] => {
    at += count;
    if (at > numbers.length) throw new CheckpointError('checkpoint.format', 'the checkpoint is too short');
    return numbers.slice(at - count, at);
  };
  const takeList = (list: DoubleList): void => {
    const [length = 0] = take(1);
    for (const item of take(length)) list.push(item);
  };
  const [advancedMs = 0, unused = 0] = take(2);
  Object.assign(progress, { advancedMs, unused });
  for (const { state, counts } of graph.sources) {
    setCounts(counts, take(SOURCE_COUNT_LENGTH));
    state.slots.set(take(state.slots.length));
    takeList(state.pendingTimes);
    takeList(state.pendingValues);
  }
  for (const { nodes, counts } of graph.steps) {
    for (const own of counts) setCounts(own, take(STEP_COUNT_LENGTH));
    for (const { state } of nodes) {
      if (state === undefined) continue;
      state.slots.set(take(state.slots.length));
      for (const list of state.lists) takeList(list);
    }
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
  return at + (isWhole ? 5 : 9);
}

function readNumbers(view: DataView, end: number): number[] {
  const numbers: number[] = [];
  let at = HEADER_LENGTH;
  while (at < end) {
    const tag = view.getUint8(at);
    const width = { [TAG_DOUBLE]: 9, [TAG_UINT32]: 5, [TAG_UINT16]: 3 }[tag] ?? 1;
    if (at + width > end) throw new CheckpointError('checkpoint.format', 'the checkpoint is too short');
    if (tag === TAG_DOUBLE) numbers.push(view.getFloat64(at + 1, true));
    else if (tag === TAG_UINT32) numbers.push(view.getUint32(at + 1, true));
    else if (tag === TAG_UINT16) numbers.push(view.getUint16(at + 1, true));
    else numbers.push(tag === TAG_NEGATIVE_INFINITY ? Number.NEGATIVE_INFINITY : tag);
    at += width;
  }
  return numbers;
}

function planHash(plan: Plan, settings: RunSettings): bigint {
  const { fromMs, untilMs, allowedLatenessMs } = settings;
  const { timezone, sources, steps, items } = plan;
  return hashText(
    JSON.stringify([timezone, sources, steps, items, String(fromMs), untilMs ?? null, allowedLatenessMs]),
  );
}

function latin(bytes: Uint8Array, end: number): string {
  let text = '';
  for (let i = 0; i < end; i++) text += String.fromCharCode(bytes[i]!);
  return text;
}
