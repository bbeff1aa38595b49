import { scanNumber } from '../../formats/csv/read/scan-number.js';
import { scanTime, TIME_REACH } from '../../formats/csv/read/scan-time.js';
import { isPiece, noteObject, PLACES } from './moulds.js';
import type { SampleBatch } from './sample-batch.js';
import { isJsonNumber, type Scan } from './scan.js';

/** A time, or a number, of more bytes is no usual one. */
const HOLE_MAX = 64;
const HOLES_MAX = 2 * HOLE_MAX + TIME_REACH + 4;

/**
 * Reads an object of the series that is likely to come into the next row, by its mould; false, and no more than a row
 * that is not counted, where it is another one or not quite as usual.
 */
export function castObject(scan: Scan, batch: SampleBatch): boolean {
  const { bytes, view, moulds } = scan;
  const { places } = moulds;
  const series = moulds.follower[moulds.last]!;
  const head = PLACES * series;
  const [headLength, middleLength, tailLength] = [places[head + 1]!, places[head + 3]!, places[head + 5]!];
  const length = headLength + middleLength + tailLength;
  // The last objects of a text have too little behind them to be compared without a look at the end at every step.
  if (length === 0 || scan.at + length + HOLES_MAX > bytes.length) return false;
  let at = scan.at + headLength;
  if (!isPiece(moulds, head, view, scan.at)) return false;
  if (moulds.isTimeFirst[series] === 1) {
    at = castTime(scan, batch, at);
    if (at < 0 || !isPiece(moulds, head + 2, view, at)) return false;
    at = castValue(scan, batch, at + middleLength, moulds.words[places[head + 4]!]! & 0xff);
  } else {
    at = castValue(scan, batch, at, moulds.words[places[head + 2]!]! & 0xff);
    if (at < 0 || !isPiece(moulds, head + 2, view, at)) return false;
    at = castTime(scan, batch, at + middleLength);
  }
  if (at < 0 || !isPiece(moulds, head + 4, view, at)) return false;
  scan.at = at + tailLength;
  moulds.last = series;
  batch.seriesIndex[batch.rowCount] = series;
  return true;
}

function castTime({ bytes, view, clock }: Scan, { timeMs, rowCount }: SampleBatch, at: number): number {
  const end = scanTime(bytes, view, at, clock, timeMs, rowCount);
  return end - at > HOLE_MAX ? -1 : end;
}

function castValue({ bytes }: Scan, { value, rowCount }: SampleBatch, at: number, separator: number): number {
  const end = scanNumber(bytes, at, separator, value, rowCount);
  return end < 0 || end - at > HOLE_MAX || !isJsonNumber(bytes, at, end) ? -1 : end;
}

/** Notes the object that was read field by field into the next row. */
export function learnMould(scan: Scan, { seriesIndex, rowCount }: SampleBatch, from: number): void {
  const { moulds, bytes, at: to, timeFrom, timeTo, valueFrom, valueTo } = scan;
  noteObject(moulds, seriesIndex[rowCount]!, bytes, { from, to, timeFrom, timeTo, valueFrom, valueTo });
}
