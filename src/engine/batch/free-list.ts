/**
 * Buffers of results that were given back (`Run.dispose`), for the results of later runs. Memory that a process has
 * used before costs nothing; a fresh page of it costs a fault, and all of them together more than the work of most
 * plans. A buffer comes here by a move, so nobody else can see it any more, and serves a result of just its length.
 */
const free = new Map<number, ArrayBuffer[]>();
let freeBytes = 0;

/** The most that is kept; the lengths that have not been used for longest go first. */
const FREE_BYTES_MAX = 2 ** 29;
/** Smaller buffers come from memory that the process has anyway. */
const BUFFER_BYTES_MIN = 2 ** 17;

/** A column of so many entries, whatever they are at first: who takes it writes to all of them. */
export function takeColumn(length: number): Float64Array<ArrayBuffer> {
  const buffer = free.get(8 * length)?.pop();
  if (buffer === undefined) return new Float64Array(length);
  freeBytes -= buffer.byteLength;
  return new Float64Array(buffer);
}

/** Moves a result's buffer here, which leaves every array over it empty. */
export function giveBack({ buffer }: Float64Array): void {
  // `as`: the library makes its results over buffers that are not shared.
  const moved = move(buffer as ArrayBuffer);
  const { byteLength } = moved;
  if (byteLength < BUFFER_BYTES_MIN || byteLength > FREE_BYTES_MAX) return;
  const alike = free.get(byteLength) ?? [];
  alike.push(moved);
  // The last in the order of the map is the last that was used.
  free.delete(byteLength);
  free.set(byteLength, alike);
  freeBytes += byteLength;
  for (const [oldest, buffers] of free) {
    while (freeBytes > FREE_BYTES_MAX && buffers.pop() !== undefined) freeBytes -= oldest;
    if (buffers.length > 0) break;
    free.delete(oldest);
  }
}

function move(buffer: ArrayBuffer): ArrayBuffer {
  return buffer.transfer === undefined ? structuredClone(buffer, { transfer: [buffer] }) : buffer.transfer();
}
