/** Bytes that wait for the rest of their row. */
export interface Pending {
  length(): number;
  append(bytes: Uint8Array, from: number, to: number): void;
  /** Drops the first `count` bytes. */
  drop(count: number): void;
  /** The bytes as a view, valid until the next change. */
  view(): Uint8Array;
}

export function createPending(): Pending {
  let buffer = new Uint8Array(4096);
  let start = 0;
  let end = 0;
  return {
    length: () => end - start,
    append(bytes, from, to) {
      const length = end - start + to - from;
      if (end + to - from > buffer.length) {
        const roomy = length > buffer.length ? new Uint8Array(2 * length) : buffer;
        roomy.set(buffer.subarray(start, end));
        buffer = roomy;
        end -= start;
        start = 0;
      }
      buffer.set(bytes.subarray(from, to), end);
      end += to - from;
    },
    drop(count) {
      start += count;
      if (start === end) {
        start = 0;
        end = 0;
      }
    },
    view: () => buffer.subarray(start, end),
  };
}
