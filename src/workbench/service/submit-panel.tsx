import { useEffect, useState } from 'preact/hooks';
import { countText, timeText } from '../chart/zoned-time.js';
import { nameOf } from '../engine/protocol.js';
import { useWorkbench } from '../state.js';
import type { DryRunItem, Transaction } from './api.js';
import { ProblemLines } from './problem-lines.js';
import type { PartProps } from './service-panel.js';
import { useProblem } from './use-problem.js';

interface SubmitProps extends PartProps {
  /** Called once the results of a request are there. */
  readonly onEnded: () => void;
}

/** The pipeline as items of the service, and what becomes of them. */
export function SubmitPanel({ client, onSignedOut, onEnded }: SubmitProps) {
  const { state, view } = useWorkbench();
  const { lines, attempt } = useProblem(onSignedOut);
  const [tried, setTried] = useState<{ explain: string; items: readonly DryRunItem[] }>();
  const [watched, setWatched] = useState<string>();
  const [latest, setLatest] = useState<readonly Transaction[]>([]);
  const isSound = state.draft.length > 0 && view.checked.plan !== undefined;
  const list = (): Promise<void> => attempt(async () => setLatest((await client.listTransactions(null)).entries));
  useEffect(() => void list(), [client, watched]);
  return (
    <section class="panel" aria-labelledby="submit-title">
      <div class="row wrap">
        <h2 id="submit-title">Run the pipeline in the service</h2>
        <span class="spring" />
        <button
          type="button"
          disabled={!isSound}
          onClick={() => attempt(async () => setTried(await client.dryRun(state.draft)))}
        >
          Dry run
        </button>
        <button
          type="button"
          class="primary"
          disabled={!isSound}
          onClick={() => attempt(async () => setWatched((await client.submit(state.draft)).id))}
        >
          Submit
        </button>
      </div>
      {!isSound && <p class="faint">Build a pipeline over a stored series first.</p>}
      <ProblemLines lines={lines} />
      {tried !== undefined && <DryRun {...tried} />}
      {watched !== undefined && (
        <Timeline key={watched} id={watched} client={client} onSignedOut={onSignedOut} onEnded={onEnded} />
      )}
      {latest.length > 0 && (
        <details>
          <summary>Latest requests</summary>
          <ul class="requests">
            {latest.map(({ id, state: now, receivedTimestamp }) => (
              <li key={id} class="row">
                <button
                  type="button"
                  class="small"
                  aria-label={`Watch the request of ${receivedTimestamp}`}
                  onClick={() => setWatched(id)}
                >
                  Watch
                </button>
                <span>{receivedTimestamp}</span> <span class="state">{now}</span>
              </li>
            ))}
          </ul>
        </details>
      )}
    </section>
  );
}

function DryRun({ explain, items }: { readonly explain: string; readonly items: readonly DryRunItem[] }) {
  return (
    <div role="status">
      <h3>Dry run: nothing was stored</h3>
      <ul>
        {items.map((item) => (
          <li key={nameOf(item)}>
            {nameOf(item)}: reads {countText(item.costs.samplesRead)} samples, gives{' '}
            {countText(item.costs.samplesExpected)} at most
            {item.replaces === null ? '' : '; replaces the item that is there'}
          </li>
        ))}
      </ul>
      <details>
        <summary>The plan in words</summary>
        <pre class="line">{explain}</pre>
      </details>
    </div>
  );
}

const POLL_MS = 500;
const ENDED = ['Active', 'Completed', 'Failed'];

/** A state of a transaction, and when this page saw it first. */
interface Moment {
  readonly who: string;
  readonly state: string;
  readonly message: string | null;
  readonly atMs: number;
}

/** A transaction and those of its items, from state to state. */
function Timeline({ id, client, onSignedOut, onEnded }: SubmitProps & { readonly id: string }) {
  const { view } = useWorkbench();
  const { lines, attempt } = useProblem(onSignedOut);
  const [moments, setMoments] = useState<readonly Moment[]>([]);
  useEffect(() => {
    let timer = 0;
    let seen: readonly Moment[] = [];
    const look = (): Promise<void> =>
      attempt(async () => {
        const request = await client.transaction(id);
        const items = await Promise.all(request.transactionIDList.map((one) => client.transaction(one)));
        const now = [request, ...items].map((one, index) => momentOf(one, index === 0 ? 'request' : nameOfItem(one)));
        seen = [
          ...seen,
          ...now.filter((moment) => !seen.some((one) => one.who === moment.who && one.state === moment.state)),
        ];
        setMoments(seen);
        if (now.every(({ state }) => ENDED.includes(state))) return onEnded();
        timer = setTimeout(look, POLL_MS);
      });
    void look();
    return () => clearTimeout(timer);
  }, [id, client]);
  return (
    <div>
      <h3>What became of it</h3>
      <ol class="timeline" aria-live="polite">
        {moments.map(({ who, state, message, atMs }) => (
          <li key={`${who} ${state}`}>
            <time>{timeText(atMs, view.chartZone)}</time>
            <span class={`state ${state.toLowerCase()}`}>{state}</span>
            <span>{who}</span>
            {message !== null && <span class="faint">{message}</span>}
          </li>
        ))}
      </ol>
      <ProblemLines lines={lines} />
    </div>
  );
}

function nameOfItem({ payload }: Transaction): string {
  return `${payload.TimeseriesId}/${payload.TimeseriesType}`;
}

function momentOf({ state, message }: Transaction, who: string): Moment {
  return { who, state, message, atMs: Date.now() };
}
