import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { SeriesReference } from '../../index.js';
import { ProcessingField } from '../build/pipeline.js';
import { counted, countText } from '../chart/zoned-time.js';
import { type Differences, keyOf, nameOf, type SeriesInfo } from '../engine/protocol.js';
import { type DraftItem, inZone } from '../request/draft.js';
import { loadedSeries, STORED, type State, useWorkbench, type View } from '../state.js';
import type { DryRunItem, ServiceClient, Transaction } from './api.js';
import type { PartProps } from './part-props.js';
import { ProblemLines } from './problem-lines.js';
import { SendList, type Sent, useSending } from './sending.js';
import { Timeline } from './timeline.js';
import { useProblem } from './use-problem.js';

interface RunProps extends PartProps {
  /** What was sent of each series; kept beyond a token, so that sending can go on where it stopped. */
  readonly sent: WeakMap<SeriesInfo, Sent>;
  /** Called once the results of a request are there. */
  readonly onEnded: () => void;
}

type Tried = Awaited<ReturnType<ServiceClient['dryRun']>>;

/** Registers the pipeline as items of the service: sends what they read, and shows their states. */
export function RunPanel({ client, onSignedOut, onEnded, sent }: RunProps) {
  const { state, view } = useWorkbench();
  const { lines, attempt } = useProblem(onSignedOut);
  const { plan } = view.checked;
  const request = useMemo(() => inZone(state.draft, plan), [state.draft, plan]);
  const own = seriesToSend(state, view);
  const [tried, setTried] = useState<Tried>();
  const [watched, setWatched] = useState<string>();
  const { compared, compare, forget } = useComparison(client);
  const sending = useSending(client, own, sent);
  const isReady = state.draft.length > 0 && plan !== undefined && client.mayWrite && sending.stop === undefined;
  const submit = async (isOwn: boolean): Promise<void> => {
    const { id } = await client.submit(request);
    forget(isOwn ? { id, draft: state.draft, timezone: state.timezone } : undefined);
    setTried(undefined);
    setWatched(id);
  };
  const sendAndRun = async (isAgreed: boolean): Promise<void> => {
    await client.dryRun(request);
    // A dry run says what is stored of the series that its items read: for patterns, and series that several items
    // read, these items have one each.
    const items: DryRunItem[] = [];
    for (let at = 0; at < own.length; at += ITEMS_MAX) {
      items.push(...(await client.dryRun(own.slice(at, at + ITEMS_MAX).map(itemReading))).items);
    }
    if (!isAgreed && (await sending.wouldMeet(items))) return;
    if (await sending.send()) await submit(true);
  };
  const ended = (isFailed: boolean): void => {
    onEnded();
    if (!isFailed && watched !== undefined) void attempt(() => compare(watched));
  };
  return (
    <section class="panel" aria-labelledby="submit-title">
      <RunButtons
        isReady={isReady}
        isSending={own.length > 0}
        isBegun={sending.isBegun}
        onDryRun={() => attempt(async () => setTried(await client.dryRun(request)))}
        onSubmit={() => attempt(() => submit(own.length + view.checked.issues.length === 0))}
        onSend={() => attempt(() => sendAndRun(false))}
      />
      {!client.mayWrite && <p class="faint">To run pipelines this client needs core_write.</p>}
      {plan === undefined && (
        <p class="faint">
          {state.draft.length === 0 ? 'Build a pipeline first.' : 'The pipeline has a problem: see Build.'}
        </p>
      )}
      {state.draft.map((_, index) => (
        <ProcessingField key={index} index={index} isNamed />
      ))}
      <SendList own={own} sent={sent} sending={sending} onAgree={() => attempt(() => sendAndRun(true))} />
      <ProblemLines lines={lines} />
      <div role="status">{tried !== undefined && <DryRun {...tried} />}</div>
      {watched !== undefined && (
        <Timeline key={watched} id={watched} client={client} onSignedOut={onSignedOut} onEnded={ended} />
      )}
      <div role="status">{compared !== undefined && <Verdict {...compared} />}</div>
      <Latest client={client} onSignedOut={onSignedOut} watched={watched} onWatch={setWatched} />
    </section>
  );
}

/** As many as a request may have. */
const ITEMS_MAX = 1000;

function itemReading({ timeseriesId, metric }: SeriesReference, index: number): DraftItem {
  const input = [{ timeseriesId, metric }];
  const output = [{ timeseriesId, metric: `stored ${index}` }];
  const operations = [{ operation: 'Abs', input, output, parameters: {} }];
  return { metric: output[0]!.metric, processingType: 'batch', operations };
}

interface ButtonsProps {
  readonly isReady: boolean;
  /** Whether there is anything to send. */
  readonly isSending: boolean;
  /** Whether some of it has been sent. */
  readonly isBegun: boolean;
  readonly onDryRun: () => void;
  readonly onSubmit: () => void;
  readonly onSend: () => void;
}

function RunButtons({ isReady, isSending, isBegun, onDryRun, onSubmit, onSend }: ButtonsProps) {
  return (
    <div class="row wrap">
      <h2 id="submit-title">Run the pipeline in the service</h2>
      <span class="spring" />
      <button type="button" disabled={!isReady} onClick={onDryRun}>
        Dry run
      </button>
      <button type="button" disabled={!isReady} onClick={onSubmit}>
        Submit
      </button>
      <button type="button" class="primary" disabled={!isReady || !isSending} onClick={onSend}>
        {isBegun ? 'Go on sending, and run it there' : 'Send the samples and run it there'}
      </button>
    </div>
  );
}

/** The series of files that the pipeline reads; those from the service need not be sent. */
function seriesToSend({ sets }: State, { checked }: View): SeriesInfo[] {
  const read = new Set(
    checked.request.flatMap(({ operations }) => operations.flatMap((step) => step.input.map(keyOf))),
  );
  return loadedSeries(sets).flatMap(({ info, isFile }) => (isFile && read.has(keyOf(info)) ? info : []));
}

/** A request whose samples are those of the page, and what it was made of. */
interface Submitted extends Pick<State, 'draft' | 'timezone'> {
  readonly id: string;
}

/** Reads the results of a request once they are there, and compares them with the page's own. */
function useComparison(client: ServiceClient) {
  const { state, view, engine, act } = useWorkbench();
  const [compared, setCompared] = useState<Differences>();
  const submitted = useRef<Submitted | undefined>(undefined);
  const current = useRef({ state, view });
  current.current = { state, view };
  const compare = async (id: string): Promise<void> => {
    const { checked } = current.current.view;
    const { draft, timezone, ranSteps } = current.current.state;
    const own = submitted.current;
    // If the pipeline has changed since, the results are those of another one.
    if (id !== own?.id || draft !== own.draft || timezone !== own.timezone || ranSteps !== checked.steps) return;
    const sum = { compared: 0, different: 0 };
    const stored = [];
    for (const result of checked.results) {
      const series = await client.samples(result, '', '');
      const found = await engine.ask('differences', result, series);
      sum.compared += found.compared;
      sum.different += found.different;
      stored.push({ ...series, metric: series.metric + STORED });
    }
    act({ type: 'loaded', set: await engine.ask('put', 'Results in the service', stored) });
    for (const series of stored) act({ type: 'draw', series, isDrawn: true });
    setCompared(sum);
  };
  const forget = (now: Submitted | undefined): void => {
    submitted.current = now;
    setCompared(undefined);
  };
  return { compared, compare, forget };
}

function Verdict({ compared, different }: Differences) {
  const all = countText(compared);
  return (
    <p class="verdict">
      {different === 0
        ? `The service has the same results as this page, bit for bit: ${all} of ${all}.`
        : `${countText(different)} of ${counted(compared, 'result')} differ from this page's: the service has other ` +
          'samples of these series, too.'}
    </p>
  );
}

/** The latest requests of the client. */
function Latest({ client, watched, onSignedOut, onWatch }: LatestProps) {
  const { lines, attempt } = useProblem(onSignedOut);
  const [latest, setLatest] = useState<readonly Transaction[]>([]);
  useEffect(() => {
    void attempt(async () => setLatest((await client.listTransactions(null)).entries));
  }, [client, watched]);
  return (
    <>
      <ProblemLines lines={lines} />
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
                  onClick={() => onWatch(id)}
                >
                  Watch
                </button>
                <span>{receivedTimestamp}</span> <span class="state">{now}</span>
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  );
}

interface LatestProps extends PartProps {
  readonly watched: string | undefined;
  readonly onWatch: (id: string) => void;
}

function costsText({ costs: { samplesRead, samplesExpected } }: DryRunItem): string {
  if (samplesRead === 0) return 'the service has no samples of what it reads yet';
  return `reads ${counted(samplesRead, 'sample')}, gives at most ${countText(samplesExpected)}`;
}

function DryRun({ explain, items }: { readonly explain: string; readonly items: readonly DryRunItem[] }) {
  return (
    <>
      <h3>Dry run: nothing was stored</h3>
      <ul>
        {items.map((item) => (
          <li key={nameOf(item)}>
            {nameOf(item)}: {costsText(item)}
            {item.members === null ? '' : `; for ${counted(item.members, 'series', '')} there are now`}
            {item.replaces === null ? '' : '; replaces the item that is there'}
          </li>
        ))}
      </ul>
      <details>
        <summary>The plan in words</summary>
        <pre class="line">{explain}</pre>
      </details>
    </>
  );
}
