// A thread that reads ranges of CSV files (see scan-crew.ts). It loads what it takes to read CSV and nothing else.
import { readSync } from 'node:fs';
import { type MessagePort, workerData } from 'node:worker_threads';
import { seriesKey } from '../core/series.js';
import { type CrewMessage, type CrewTask, claimRange, isCancelled, tellDone } from './scan-crew.js';
import { createRangeScanner, numbersPerRange } from './scan-range.js';
import { createSlotWriter } from './scan-slots.js';

const { port } = workerData as { port: MessagePort }; // as scan-crew.ts sends it

port.on('message', (task: CrewTask) => {
  try {
    scanFile(task);
  } catch (error) {
    const { message = String(error), code } = error instanceof Error ? (error as NodeJS.ErrnoException) : {};
    tell({ number: task.number, failure: { message, code } }, task);
  }
});

function scanFile(task: CrewTask): void {
  const { file, wantedKeys, options, control } = task;
  const wanted = new Set(wantedKeys);
  const head = new Uint8Array(file.headBytes);
  readSync(file.descriptor, head, 0, head.length, 0);
  const scanner = createRangeScanner(
    file,
    head,
    { ...options, wanted: (reference) => wanted.has(seriesKey(reference)) },
    (block, position) => readSync(file.descriptor, block, 0, block.length, position),
  );
  const slots = createSlotWriter(numbersPerRange(file));
  for (;;) {
    const index = claimRange(control, file);
    if (index === undefined) return;
    const outcome = scanner.scan(index, slots.add);
    if (isCancelled(control)) return;
    tell({ number: task.number, range: { index, outcome, slot: slots.take() } }, task);
    if (outcome.fault !== undefined || outcome.resumeAt !== undefined) return;
  }
}

function tell(message: CrewMessage, { control }: CrewTask): void {
  port.postMessage(message);
  tellDone(control);
}
