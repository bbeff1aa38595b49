import { useEffect, useState } from 'preact/hooks';
import { timeText } from '../chart/zoned-time.js';
import { useWorkbench } from '../state.js';
import { ServiceProblem, type Transaction } from './api.js';
import type { PartProps } from './part-props.js';
import { ProblemLines } from './problem-lines.js';
import { useProblem } from './use-problem.js';

const POLL_MS = 500;
const ENDED = ['Active', 'Completed', 'Failed'];

/** A state of a transaction, and when the page first saw it. */
interface Moment {
  readonly who: string;
  readonly state: string;
  readonly message: string | null;
  readonly atMs: number;
}

interface TimelineProps extends PartProps {
  readonly id: string;
  /** Called once the results are there, or have failed. */
  readonly onEnded: (isFailed: boolean) => void;
}

/** The states of a transaction and of its items, in order of time. */
export function Timeline({ id, client, onSignedOut, onEnded }: TimelineProps) {
  const { view } = useWorkbench();
  const { lines, report } = useProblem(onSignedOut);
  const [moments, setMoments] = useState<readonly Moment[]>([]);
  useEffect(() => {
    let timer = 0;
    let isGone = false;
    let seen: readonly Moment[] = [];
    const look = async (): Promise<void> => {
      const request = await client.transaction(id);
      const items = await Promise.all(request.transactionIDList.map((one) => client.transaction(one)));
      const now = [request, ...items].map((one, index) => momentOf(one, index === 0 ? 'request' : nameOfItem(one)));
      if (isGone) return;
      seen = [
        ...seen,
        ...now.filter((moment) => !seen.some((one) => one.who === moment.who && one.state === moment.state)),
      ];
      setMoments(seen);
      if (now.every(({ state }) => ENDED.includes(state))) onEnded(now.some(({ state }) => state === 'Failed'));
      else goOn();
      report(undefined);
    };
    const goOn = (): void => {
      timer = window.setTimeout(() => look().catch(fail), POLL_MS);
    };
    const fail = (problem: unknown): void => {
      // The end of an old token must not end the next sign-in.
      if (isGone) return;
      if (problem instanceof ServiceProblem && problem.isTemporary) goOn();
      report(problem);
    };
    look().catch(fail);
    return () => {
      isGone = true;
      clearTimeout(timer);
    };
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
