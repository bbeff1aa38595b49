import { useEffect, useRef, useState } from 'preact/hooks';
import type { SeriesReference } from '../../index.js';
import { countText } from '../chart/zoned-time.js';
import { keyOf, nameOf } from '../engine/protocol.js';
import { useWorkbench } from '../state.js';
import { TableHead } from '../table-head.js';
import type { Page, ServiceClient, StoredSeries } from './api.js';
import { follow } from './follow.js';
import type { PartProps, StateOf } from './part-props.js';
import { ProblemLines } from './problem-lines.js';
import { useProblem } from './use-problem.js';

/** The span of stored series to read; '' is open. */
export type StoredRange = Readonly<Record<'startTime' | 'endTime', string>>;

interface SeriesPanelProps extends PartProps {
  readonly endedCount: number;
  readonly wanted: StateOf<StoredRange>;
}

/** The series that the service stores, to be drawn, computed with and followed. */
export function SeriesPanel({ client, onSignedOut, endedCount, wanted }: SeriesPanelProps) {
  const { state } = useWorkbench();
  const problem = useProblem(onSignedOut);
  const { lines, attempt } = problem;
  const [page, setPage] = useState<Page<StoredSeries>>();
  const [range, setRange] = wanted;
  const stored = useStored(client, range, problem);
  const list = (after: string | null): Promise<boolean> => attempt(async () => setPage(await client.listSeries(after)));
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
        <TableHead columns={['Series', { number: 'Samples' }, 'First', 'Last', 'On this page']} />
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

/** Over HTTP/1.1 a browser has six connections to a service, and each live series takes one of them. */
const LIVE_MAX = 4;

/** Loads stored series, and keeps those that are followed up to date. */
function useStored(
  client: ServiceClient,
  { startTime, endTime }: { readonly startTime: string; readonly endTime: string },
  { attempt, wait, report }: ReturnType<typeof useProblem>,
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
    act({ type: 'loaded', set: await engine.ask('put', storedName(one), [series]) });
    act({ type: 'draw', series: one, isDrawn: true });
  };
  const isFollowed = (one: SeriesReference): boolean => followed.has(keyOf(one));
  const end = (one: SeriesReference): void => {
    followers.current.get(keyOf(one))?.abort();
    followers.current.delete(keyOf(one));
    setFollowed(new Set(followers.current.keys()));
  };
  const begin = async (one: SeriesReference): Promise<void> => {
    if (followers.current.size >= LIVE_MAX) {
      return report(
        new Error('No more series can be live: a browser has few connections to a service. End one first.'),
      );
    }
    const own = new AbortController();
    followers.current.set(keyOf(one), own);
    setFollowed(new Set(followers.current.keys()));
    report(undefined);
    try {
      await follow(client, one, own.signal, {
        onSamples: async (series) => {
          const set = await engine.ask('add', storedName(one), [series]);
          if (set === undefined) end(one);
          else act({ type: 'loaded', set });
        },
        onReset: () => wait(() => read(one)),
        onBroken: report,
      });
    } catch (problem) {
      report(problem);
    }
    // The reader may have stopped following, and begun again.
    if (!own.signal.aborted) end(one);
  };
  const load = (one: SeriesReference): void => {
    if (!isFollowed(one)) return void attempt(() => read(one));
    // What comes meanwhile must not be replaced by what is read.
    end(one);
    void begin(one);
  };
  const toggle = (one: SeriesReference): void => void (isFollowed(one) ? end(one) : begin(one));
  return { load, toggle, isFollowed };
}
