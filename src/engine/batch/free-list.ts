/**
 * Buffers of disposed results (`Run.dispose`), for the results of later runs. Memory that the process has used before
 * costs nothing; each fresh page costs a page fault, and together these cost more than the work of most plans. A buffer
 * is moved here, so nobody else can see it any more, and is used again for a result of exactly its length.
 */
const free = new Map<number, ArrayBuffer[]>();
let freeBytes = 0;

/** The most that is kept; the least recently used lengths go first. */
const FREE_BYTES_MAX = 2 ** 29;
/** Smaller buffers are not kept: they rarely need fresh pages. */
const BUFFER_BYTES_MIN = 2 ** 17;

/** A column of this length with arbitrary contents: the caller must write to every entry. */
export function takeColumn(length: number): Float64Array<ArrayBuffer> {
  const buffer = free.get(8 * length)?.pop();
  if (buffer === undefined) return new Float64Array(length);
  freeBytes -= buffer.byteLength;
  return new Float64Array(buffer);
}

/** Moves a result's buffer to the free list, which empties every array over it. */
export function giveBack({ buffer }: Float64Array): void {
  // `as`: results never lie in shared memory.
  const moved = move(buffer as ArrayBuffer);
  const { byteLength } = moved;
  if (byteLength < BUFFER_BYTES_MIN || byteLength > FREE_BYTES_MAX) return;
  const alike = free.get(byteLength) ?? [];
  alike.push(moved);
  // The map's order is that of use, most recent last.
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
