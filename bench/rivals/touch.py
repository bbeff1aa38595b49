"""Takes memory in huge pages, writes to it and gives it back: `touch.py MB`.

A virtual machine that returns free memory to its host (page reporting) waits for the host when it takes that memory
again: eight times as long as for memory that was in use a moment ago. Run before each process, this gives all of
them the same start; else a rival is slow or fast by what ran before it.
"""
import mmap
import sys

HUGE_PAGE_BYTES = 1 << 21

size = int(sys.argv[1]) << 20
memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
memory.madvise(mmap.MADV_HUGEPAGE)
for at in range(0, size, HUGE_PAGE_BYTES):
    memory[at] = 1
