import { useEffect, useRef, useState } from 'preact/hooks';
import type { SeriesReference } from '../../index.js';
import { countText } from '../chart/zoned-time.js';
import { keyOf, nameOf } from '../engine/protocol.js';
import { useWorkbench } from '../state.js';
import type { Page, StoredSeries } from './api.js';
import { follow } from './follow.js';
import { ProblemLines } from './problem-lines.js';
import type { PartProps } from './service-panel.js';
import { useProblem } from './use-problem.js';

/** The series that the service stores, to be drawn, worked on and followed. */
export function SeriesPanel({ client, onSignedOut, endedCount }: PartProps & { readonly endedCount: number }) {
  const { state } = useWorkbench();
  const { lines, attempt } = useProblem(onSignedOut);
  const [page, setPage] = useState<Page<StoredSeries>>();
  const [range, setRange] = useState({ startTime: '', endTime: '' });
  const stored = useStored({ client, onSignedOut }, range, attempt);
  const list = (after: string | null): Promise<void> => attempt(async () => setPage(await client.listSeries(after)));
  useEffect(() => void list(null), [client, endedCount]);
  const isLoaded = (one: SeriesReference): boolean => state.sets.some(({ name }) => name === storedName(one));
  return (
    <section class="panel" aria-labelledby="stored-title">
      <div class="row wrap">
        <h2 id="stored-title">Stored series</h2>
        <span class="spring" />
        {(['startTime', 'endTime'] as const).map((name) => (
          <label class="inline" key={name}>
            {name === 'startTime' ? 'From' : 'Until'}
            <input
              list={undefined}
              size={20}
              placeholder="all"
              value={range[name]}
              onInput={({ currentTarget: { value } }) => setRange({ ...range, [name]: value })}
            />
          </label>
        ))}
        <button type="button" onClick={() => list(null)}>
          Refresh
        </button>
        <button type="button" disabled={page?.next == null} onClick={() => list(page?.next ?? null)}>
          Next page
        </button>
      </div>
      <ProblemLines lines={lines} />
      {page !== undefined && (
        <SeriesTable
          page={page}
          isLoaded={isLoaded}
          isFollowed={stored.isFollowed}
          onLoad={stored.load}
          onFollow={stored.toggle}
        />
      )}
    </section>
  );
}

interface TableProps {
  readonly page: Page<StoredSeries>;
  readonly isLoaded: (series: SeriesReference) => boolean;
  readonly isFollowed: (series: SeriesReference) => boolean;
  readonly onLoad: (series: SeriesReference) => void;
  readonly onFollow: (series: SeriesReference) => void;
}

function SeriesTable({ page, isLoaded, isFollowed, onLoad, onFollow }: TableProps) {
  return (
    <div class="table-scroll">
      <table>
        <caption class="hidden">Series of your organisation</caption>
        <thead>
          <tr>
            <th scope="col">Series</th>
            <th scope="col" class="number">
              Samples
            </th>
            <th scope="col">First</th>
            <th scope="col">Last</th>
            <th scope="col">On this page</th>
          </tr>
        </thead>
        <tbody>
          {page.entries.map((one) => (
            <tr key={keyOf(one)}>
              <th scope="row">{nameOf(one)}</th>
              <td class="number">{countText(one.sampleCount)}</td>
              <td>{one.firstTimestamp}</td>
              <td>{one.lastTimestamp}</td>
              <td>
                <button
                  type="button"
                  class="small"
                  aria-label={`${isLoaded(one) ? 'Read again' : 'Draw'} ${nameOf(one)}`}
                  onClick={() => onLoad(one)}
                >
                  {isLoaded(one) ? 'Read again' : 'Draw'}
                </button>{' '}
                <button
                  type="button"
                  class="small"
                  aria-pressed={isFollowed(one)}
                  aria-label={`Live ${nameOf(one)}`}
                  onClick={() => onFollow(one)}
                >
                  Live
                </button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function storedName(reference: SeriesReference): string {
  return `stored ${nameOf(reference)}`;
}

/** Brings stored series onto the page, and keeps those that are followed up to date. */
function useStored(
  { client }: PartProps,
  { startTime, endTime }: { readonly startTime: string; readonly endTime: string },
  attempt: (work: () => Promise<void>) => Promise<void>,
) {
  const { engine, act } = useWorkbench();
  const followers = useRef(new Map<string, AbortController>());
  const [followed, setFollowed] = useState<ReadonlySet<string>>(new Set());
  useEffect(
    () => () => {
      for (const end of followers.current.values()) end.abort();
    },
    [client],
  );
  const read = async (one: SeriesReference): Promise<void> => {
    const series = await client.samples(one, startTime, endTime);
    act({ type: 'loaded', set: await engine.ask('put', storedName(one), [series], false) });
    act({ type: 'draw', series: one, isDrawn: true });
  };
  const toggle = (one: SeriesReference): void => {
    const key = keyOf(one);
    const running = followers.current.get(key);
    if (running !== undefined) {
      running.abort();
      followers.current.delete(key);
      setFollowed(new Set(followers.current.keys()));
      return;
    }
    const end = new AbortController();
    followers.current.set(key, end);
    setFollowed(new Set(followers.current.keys()));
    void attempt(async () => {
      await read(one);
      await follow(client, one, end.signal, {
        onSamples: (series) =>
          void attempt(async () => {
            act({ type: 'loaded', set: await engine.ask('put', storedName(one), [series], true) });
          }),
        onReset: () => void attempt(() => read(one)),
      }).catch((error: unknown) => {
        if (!end.signal.aborted) throw error;
      });
    });
  };
  const load = (one: SeriesReference): void => void attempt(() => read(one));
  return { load, toggle, isFollowed: (one: SeriesReference) => followed.has(keyOf(one)) };
}
