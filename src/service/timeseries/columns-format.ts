import { describeValue } from '../../core/errors.js';
import type { Series } from '../../core/series.js';
import { ServiceError } from '../http/errors.js';
import { JsonIssueError, parseJson } from '../http/json.js';
import { nameProblem } from './names.js';

/**
 * Columns as they lie in memory, for programs that move many samples (`application/vnd.windrow.columns`). The body is
 * frames, one behind the other, little-endian:
 *
 *     uint32  byte length of the head
 *     uint32  number of samples, n
 *     head    UTF-8 JSON {"timeseriesId", "metric"}, then spaces up to a multiple of 8
 *     n × float64  times in epoch milliseconds
 *     n × float64  values
 */

const PREFIX_LENGTH = 8;
const HEAD_LENGTH_MAX = 4096;
/** The bytes of a frame are held in memory as a whole. */
const FRAME_SAMPLES_MAX = 1_000_000;
/** More would be copied, sorted and stored at once, and take several times the memory of the frame. */
const PART_SAMPLES_MAX = 131_072;

/** One series as a frame. */
export function writeFrame({ timeseriesId, metric, timeMs, value }: Series): Uint8Array {
  const text = new TextEncoder().encode(JSON.stringify({ timeseriesId, metric }));
  const headLength = Math.ceil(text.length / 8) * 8;
  const columnLength = 8 * timeMs.length;
  const bytes = new Uint8Array(PREFIX_LENGTH + headLength + 2 * columnLength).fill(0x20, 0, PREFIX_LENGTH + headLength);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, headLength, true);
  view.setUint32(4, timeMs.length, true);
  bytes.set(text, PREFIX_LENGTH);
  bytes.set(bytesOf(timeMs), PREFIX_LENGTH + headLength);
  bytes.set(bytesOf(value), PREFIX_LENGTH + headLength + columnLength);
  return bytes;
}

/** Samples of a frame; all of them, unless it is long. */
export interface FramePart extends Series {
  /** The number of the frame, from 1. */
  readonly frame: number;
  /** How many samples of the frame are before these. */
  readonly firstSample: number;
}

/** Reads frames from bytes that are split anywhere. */
export class FrameReader {
  /** What has come of the frame that is not complete yet, with room for as much again at most. */
  #frame = new Uint8Array(PREFIX_LENGTH);
  #length = 0;
  #frameCount = 0;

  /** Yields the parts of the frames that are complete with these bytes; all must be taken. */
  *push(bytes: Uint8Array): Generator<FramePart> {
    let at = 0;
    while (at < bytes.length) {
      at += this.#take(bytes, at, PREFIX_LENGTH);
      if (this.#length < PREFIX_LENGTH) return;
      const frameLength = frameLengthOf(this.#frame, this.#frameCount);
      at += this.#take(bytes, at, frameLength);
      if (this.#length < frameLength) return;
      yield* readFrame(this.#frame, this.#frameCount++);
      this.#length = 0;
    }
  }

  /** Takes what is missing up to a length of the frame, as far as it is there; returns the number of bytes. */
  #take(bytes: Uint8Array, at: number, length: number): number {
    const count = Math.max(0, Math.min(length - this.#length, bytes.length - at));
    const taken = this.#length + count;
    if (this.#frame.length < taken) {
      // Not its full size at once: whoever announces a long frame may never send it.
      const larger = new Uint8Array(Math.min(length, 2 * taken));
      larger.set(this.#frame.subarray(0, this.#length));
      this.#frame = larger;
    }
    this.#frame.set(bytes.subarray(at, at + count), this.#length);
    this.#length = taken;
    return count;
  }

  /** @throws ServiceError if the last frame is incomplete. */
  end(): void {
    const length = this.#length;
    if (length > 0) throw frameError(this.#frameCount, `ends after ${length} bytes; expected a complete frame`);
  }
}

/** @param bytes begins with the prefix of a frame. */
function frameLengthOf(bytes: Uint8Array, frame: number): number {
  const { headLength, sampleCount } = readPrefix(bytes);
  if (headLength > HEAD_LENGTH_MAX || headLength % 8 !== 0) {
    throw frameError(frame, `has a head of ${headLength} bytes; expected a multiple of 8 up to ${HEAD_LENGTH_MAX}`);
  }
  if (sampleCount > FRAME_SAMPLES_MAX) {
    throw frameError(frame, `has ${sampleCount} samples; expected at most ${FRAME_SAMPLES_MAX}, so send more frames`);
  }
  return PREFIX_LENGTH + headLength + 16 * sampleCount;
}

function readPrefix(bytes: Uint8Array): { headLength: number; sampleCount: number } {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return { headLength: view.getUint32(0, true), sampleCount: view.getUint32(4, true) };
}

function* readFrame(bytes: Uint8Array, frame: number): Generator<FramePart> {
  const { headLength, sampleCount } = readPrefix(bytes);
  const timesAt = PREFIX_LENGTH + headLength;
  const valuesAt = timesAt + 8 * sampleCount;
  const head = readHead(bytes.subarray(PREFIX_LENGTH, timesAt), frame);
  let firstSample = 0;
  do {
    const count = Math.min(sampleCount - firstSample, PART_SAMPLES_MAX);
    const timeMs = columnOf(bytes, timesAt + 8 * firstSample, count);
    const value = columnOf(bytes, valuesAt + 8 * firstSample, count);
    yield { ...head, frame: frame + 1, firstSample, timeMs, value };
    firstSample += count;
  } while (firstSample < sampleCount);
}

function readHead(bytes: Uint8Array, frame: number): { timeseriesId: string; metric: string } {
  let head: unknown;
  try {
    head = parseJson(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (cause) {
    const problem = cause instanceof JsonIssueError ? cause.message : 'a head that is not JSON';
    throw frameError(frame, `has ${problem}`, cause);
  }
  const { timeseriesId, metric } = Object(head) as Readonly<Record<string, unknown>>; // checked below
  const faults = Object.entries({ timeseriesId, metric }).flatMap(([field, name]) => {
    const expected = nameProblem(name);
    return expected === undefined ? [] : [`no valid ${field}: expected ${expected}, received ${describeValue(name)}`];
  });
  if (faults.length > 0) throw frameError(frame, `has ${faults.join('; ')}`);
  return { timeseriesId: String(timeseriesId), metric: String(metric) };
}

// A copy, since doubles must be aligned to eight bytes.
function columnOf(bytes: Uint8Array, from: number, count: number): Float64Array {
  const column = new Float64Array(count);
  bytesOf(column).set(bytes.subarray(from, from + 8 * count));
  return column;
}

// The machines that Node and browsers run on are little-endian.
function bytesOf(column: Float64Array): Uint8Array {
  return new Uint8Array(column.buffer, column.byteOffset, column.byteLength);
}

function frameError(frame: number, problem: string, cause?: unknown): ServiceError {
  return new ServiceError(400, `frame ${frame + 1} ${problem}`, { details: { frame: frame + 1 }, cause });
}
