import type { Answer, Call, Engine, Question } from './protocol.js';

/** The engine as the page sees it. */
export interface EngineClient {
  ask<Name extends Call>(call: Name, ...given: Parameters<Engine[Name]>): Promise<ReturnType<Engine[Name]>>;
  /** Ends the reading of a file early. */
  stopLoading(): void;
}

/** Starts the engine in a worker whose code is the page's own script. */
export function startEngine(script: string): EngineClient {
  const worker = new Worker(URL.createObjectURL(new Blob([script], { type: 'text/javascript' })));
  const waiting = new Map<number, { take: (value: unknown) => void; fail: (error: Error) => void }>();
  let lastId = 0;
  let loadId = 0;
  worker.onmessage = ({ data }: MessageEvent<Answer>) => {
    const asked = waiting.get(data.id);
    waiting.delete(data.id);
    if (data.problem === undefined) asked?.take(data.value);
    else asked?.fail(new Error(data.problem));
  };
  worker.onerror = (event) => {
    for (const { fail } of waiting.values())
      fail(new Error(event.message || 'the engine has stopped; reload the page'));
    waiting.clear();
  };
  return {
    ask: (call, ...given) =>
      new Promise((take, fail) => {
        const question: Question = { id: ++lastId, call, given };
        // The worker answers with what `Engine` says.
        waiting.set(question.id, { take: take as (value: unknown) => void, fail });
        if (call === 'load') loadId = question.id;
        worker.postMessage(question);
      }),
    stopLoading: () => worker.postMessage({ id: loadId, call: 'stop', given: [] } satisfies Question),
  };
}

/**
 * Of calls that come faster than they are answered only the newest counts: those in between are left out, and
 * answers are given in their order.
 */
export function newestOnly<Given, Value>(
  ask: (given: Given) => Promise<Value>,
  take: (value: Value, given: Given) => void,
  fail: (error: unknown) => void,
): (given: Given) => void {
  let isRunning = false;
  let next: { readonly given: Given } | undefined;
  const start = async (given: Given): Promise<void> => {
    isRunning = true;
    try {
      take(await ask(given), given);
    } catch (error) {
      fail(error);
    }
    isRunning = false;
    const waiting = next;
    next = undefined;
    if (waiting !== undefined) void start(waiting.given);
  };
  return (given) => {
    if (isRunning) next = { given };
    else void start(given);
  };
}
