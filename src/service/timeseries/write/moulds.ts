import { withRoom } from '../../../formats/csv/read/names.js';

/**
 * The objects of a body are mostly alike: around the time and the number stands, for each series, always the same
 * text. A mould is that text, in three pieces: before the first of the two, between them, and behind the second. An
 * object that has the pieces of a mould is of its series, and need not be read field by field. Series follow each
 * other in turns or in runs, so the mould of the series that followed the last one before is tried.
 */
export interface Moulds {
  /** The pieces, each from a word of four bytes on and filled up with zeros; those that were replaced stay. */
  words: Int32Array;
  wordCount: number;
  /** Of each series the first word and the bytes of its three pieces: `PLACES` numbers, 0 where it has no mould. */
  places: Int32Array;
  /** 1 where the time stands before the number. */
  isTimeFirst: Uint8Array;
  /** How often an object of the series was read field by field. */
  missed: Uint8Array;
  /** The series that came after each. */
  follower: Int32Array;
  last: number;
}

/** Where an object stands, and in it the time and the number. */
export interface ObjectPlaces {
  readonly from: number;
  readonly to: number;
  readonly timeFrom: number;
  readonly timeTo: number;
  readonly valueFrom: number;
  readonly valueTo: number;
}

export const PLACES = 6;

/** Longer objects are rare, and read field by field. */
const MOULD_BYTES_MAX = 1024;
/** The first object of a series may be the only one, and a series whose objects are never alike gains nothing. */
const MISSES_MIN = 2;
const MISSES_MAX = 100;

export function createMoulds(): Moulds {
  return {
    words: new Int32Array(64),
    wordCount: 0,
    places: new Int32Array(16 * PLACES),
    isTimeFirst: new Uint8Array(16),
    missed: new Uint8Array(16),
    follower: new Int32Array(16),
    last: 0,
  };
}

/** Notes that an object of the series stood there, after the one noted last, and that no mould was found for it. */
export function noteObject(moulds: Moulds, series: number, bytes: Uint8Array, object: ObjectPlaces): void {
  if (series >= moulds.follower.length) makeRoom(moulds, series);
  const wasGuessed = moulds.follower[moulds.last] === series;
  moulds.follower[moulds.last] = series;
  moulds.last = series;
  const missed = moulds.missed[series]!;
  // Another mould may have been tried in vain; this one is to blame where it was tried itself.
  const isWanted = wasGuessed || moulds.places[PLACES * series + 1] === 0;
  if (!isWanted || missed > MISSES_MAX) return;
  moulds.missed[series] = missed + 1;
  if (missed + 1 >= MISSES_MIN && object.to - object.from <= MOULD_BYTES_MAX) setMould(moulds, series, bytes, object);
}

function makeRoom(moulds: Moulds, series: number): void {
  moulds.places = withRoom(moulds.places, PLACES * (series + 1), (length) => new Int32Array(length));
  moulds.isTimeFirst = withRoom(moulds.isTimeFirst, series + 1, (length) => new Uint8Array(length));
  moulds.missed = withRoom(moulds.missed, series + 1, (length) => new Uint8Array(length));
  moulds.follower = withRoom(moulds.follower, series + 1, (length) => new Int32Array(length));
}

function setMould(moulds: Moulds, series: number, bytes: Uint8Array, object: ObjectPlaces): void {
  const { from, to, timeFrom, timeTo, valueFrom, valueTo } = object;
  const isTimeFirst = timeFrom < valueFrom;
  moulds.isTimeFirst[series] = isTimeFirst ? 1 : 0;
  const [firstFrom, firstTo] = isTimeFirst ? [timeFrom, timeTo] : [valueFrom, valueTo];
  const [secondFrom, secondTo] = isTimeFirst ? [valueFrom, valueTo] : [timeFrom, timeTo];
  setPiece(moulds, PLACES * series, bytes.subarray(from, firstFrom));
  setPiece(moulds, PLACES * series + 2, bytes.subarray(firstTo, secondFrom));
  setPiece(moulds, PLACES * series + 4, bytes.subarray(secondTo, to));
}

function setPiece(moulds: Moulds, place: number, piece: Uint8Array): void {
  const { wordCount } = moulds;
  moulds.wordCount += (piece.length + 3) >> 2;
  moulds.words = withRoom(moulds.words, moulds.wordCount, (length) => new Int32Array(length));
  const padded = new Uint8Array(4 * (moulds.wordCount - wordCount));
  padded.set(piece);
  const view = new DataView(padded.buffer);
  // As a DataView reads them on any machine.
  for (let i = wordCount; i < moulds.wordCount; i++) moulds.words[i] = view.getInt32(4 * (i - wordCount), true);
  moulds.places[place] = wordCount;
  moulds.places[place + 1] = piece.length;
}

/** Whether the piece at a place of `places` stands at `at` of the view, which has three bytes more behind it. */
export function isPiece({ words, places }: Moulds, place: number, view: DataView, at: number): boolean {
  const length = places[place + 1]!;
  let word = places[place]!;
  let i = 0;
  for (; i + 4 <= length; i += 4, word++) if (words[word] !== view.getInt32(at + i, true)) return false;
  const rest = length - i;
  if (rest === 0) return true;
  return ((words[word]! ^ view.getInt32(at + i, true)) & ((1 << (8 * rest)) - 1)) === 0;
}
