import { type Answer, type Call, messageOf, type Question } from './protocol.js';
import { Session } from './session.js';

/** What is used of a worker's global scope, for which the DOM's types have no name. */
interface WorkerScope {
  onmessage: ((event: { readonly data: Question }) => void) | null;
  postMessage(answer: Answer): void;
}

/** Answers the page's calls, one after the other. */
export function serveEngine(scope: WorkerScope): void {
  const session = new Session();
  const stopped = new Set<number>();
  let before: Promise<void> = Promise.resolve();
  scope.onmessage = ({ data }) => {
    if (data.call === 'stop') stopped.add(data.id);
    else before = before.then(async () => scope.postMessage(await answer(session, data, () => stopped.has(data.id))));
  };
}

async function answer(session: Session, { id, call, given }: Question, isStopped: () => boolean): Promise<Answer> {
  try {
    // The page's types hold call and arguments together; those that can be stopped take `isStopped` last.
    const ask = session[call as Call] as (...given: readonly unknown[]) => Promise<unknown>;
    return { id, value: await ask.apply(session, [...given, isStopped]) };
  } catch (error) {
    return { id, problem: messageOf(error) };
  }
}
