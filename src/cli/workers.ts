import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';

/** A thread that waits for files to read (see scan-crew.ts). */
export interface CrewWorker {
  readonly port: MessagePort;
  readonly worker: Worker;
}

/** @param code where the code of the threads lies. */
export function startWorkers(code: string | URL, count: number): CrewWorker[] {
  return Array.from({ length: count }, () => {
    const { port1, port2 } = new MessageChannel();
    const worker = new Worker(code, { workerData: { port: port2 }, transferList: [port2] });
    worker.unref();
    return { port: port1, worker };
  });
}
