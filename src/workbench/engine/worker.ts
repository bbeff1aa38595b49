import { type Answer, messageOf, type Question } from './protocol.js';
import { Session } from './session.js';

/** What is used of a worker's global scope, for which the DOM's types have no name. */
interface WorkerScope {
  onmessage: ((event: MessageEvent<Question>) => void) | null;
  postMessage(answer: Answer): void;
}

/** Answers the page's calls, one after the other. */
export function serveEngine(scope: WorkerScope): void {
  const session = new Session();
  let before: Promise<void> = Promise.resolve();
  scope.onmessage = ({ data }) => {
    before = before.then(async () => scope.postMessage(await answer(session, data)));
  };
}

async function answer(session: Session, { id, call, given }: Question): Promise<Answer> {
  try {
    // The page's types hold call and arguments together.
    const ask = session[call] as (...given: readonly unknown[]) => Promise<unknown>;
    return { id, value: await ask.apply(session, given as unknown[]) };
  } catch (error) {
    return { id, problem: messageOf(error) };
  }
}
