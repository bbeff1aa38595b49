/**
 * Writes once over the memory that is free, and gives it back. The host of a virtual machine hands out memory when it is
 * first written to, which took ten times as long as the page fault itself: who comes first would pay for everybody.
 */
import { readFileSync } from 'node:fs';

const PIECE_BYTES = 2 ** 29;
/** What is left to others. */
const SPARED_BYTES = 2 ** 31;

function freeBytes() {
  try {
    return Number(/MemFree:\s+(\d+)/.exec(readFileSync('/proc/meminfo', 'utf8'))[1]) * 1024;
  } catch {
    // Elsewhere than on Linux nothing is touched.
    return 0;
  }
}

const pieces = [];
while (freeBytes() > SPARED_BYTES) pieces.push(Buffer.alloc(PIECE_BYTES, 1));
console.log(`${pieces.length / 2} GiB of free memory were written to`);
