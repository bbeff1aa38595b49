import { useState } from 'preact/hooks';
import type { SeriesReference } from '../../index.js';
import { counted, countText } from '../chart/zoned-time.js';
import type { EngineClient } from '../engine/client.js';
import { keyOf, nameOf, type SeriesInfo } from '../engine/protocol.js';
import { useWorkbench } from '../state.js';
import type { DryRunItem, ServiceClient } from './api.js';

/** How far a series has been sent, and what the service answered. */
export interface Sent {
  readonly rows: number;
  readonly total: number;
  /** Samples without a value, which are not stored. */
  readonly missing: number;
  /** Samples that a later one of the same time replaced. */
  readonly duplicate: number;
  /** Nothing had to be sent: the service had the same samples. */
  readonly isThere?: true;
}

const nothingSent: Sent = { rows: 0, total: Number.POSITIVE_INFINITY, missing: 0, duplicate: 0 };

/** Sends the series one after the other, until all are sent or it is stopped. */
export function useSending(client: ServiceClient, own: readonly SeriesInfo[], sent: WeakMap<SeriesInfo, Sent>) {
  const { engine } = useWorkbench();
  const [stop, setStop] = useState<AbortController>();
  const [isStopped, setIsStopped] = useState(false);
  const [met, setMet] = useState<readonly string[]>([]);
  const [, redraw] = useState(0);
  /** Whether the service has other samples of these series than this page. */
  const wouldMeet = async (items: readonly DryRunItem[]): Promise<boolean> => {
    const known = new Map(items.flatMap(({ costs }) => costs.sources.map((source) => [keyOf(source), source])));
    const found: string[] = [];
    for (const info of own) {
      const { sampleCount = 0, firstTimestamp, lastTimestamp } = known.get(keyOf(info)) ?? {};
      if (sampleCount === 0 || sent.has(info)) continue;
      const isSame =
        sampleCount === info.count &&
        (await engine.ask('differences', info, await client.samples(info, '', ''))).different === 0;
      if (isSame) sent.set(info, { ...nothingSent, rows: sampleCount, total: sampleCount, isThere: true });
      else {
        const stored = `${counted(sampleCount, 'sample')} of ${nameOf(info)}`;
        found.push(`The service has other samples: ${stored}, ${firstTimestamp} to ${lastTimestamp}.`);
      }
    }
    setMet(found);
    return found.length > 0;
  };
  const send = async (): Promise<boolean> => {
    const aborter = new AbortController();
    setStop(aborter);
    setIsStopped(false);
    setMet([]);
    try {
      for (const info of own) {
        await sendSeries(client, engine, info, sent.get(info) ?? nothingSent, aborter.signal, (now) => {
          sent.set(info, now);
          redraw((count) => count + 1);
        });
      }
      return true;
    } catch (error) {
      if (!aborter.signal.aborted) throw error;
      setIsStopped(true);
      return false;
    } finally {
      setStop(undefined);
    }
  };
  const isBegun = own.some((info) => {
    const { rows, total } = sent.get(info) ?? nothingSent;
    return rows > 0 && rows < total;
  });
  return { stop, isStopped, isBegun, met, wouldMeet, send, dismiss: () => setMet([]) };
}

interface SendListProps {
  readonly own: readonly SeriesInfo[];
  readonly sent: WeakMap<SeriesInfo, Sent>;
  readonly sending: ReturnType<typeof useSending>;
  /** Agrees that stored samples may be replaced. */
  readonly onAgree: () => void;
}

/** How far each series has been sent, what the service left out, and what the reader has to decide. */
export function SendList({ own, sent, sending: { stop, isStopped, met, dismiss }, onAgree }: SendListProps) {
  return (
    <>
      <ul class="requests">
        {own.map((info) => (
          <SendEntry key={keyOf(info)} name={nameOf(info)} sent={sent.get(info) ?? nothingSent} />
        ))}
      </ul>
      {met.length > 0 && (
        <div role="alert">
          <ul>
            {met.map((line) => (
              <li key={line}>{line}</li>
            ))}
          </ul>
          <p>Those of the page replace samples of the same time; all others stay.</p>
          <button type="button" onClick={onAgree}>
            Send all the same
          </button>{' '}
          <button type="button" onClick={dismiss}>
            Do not send
          </button>
        </div>
      )}
      {stop !== undefined && (
        <button type="button" onClick={() => stop.abort()}>
          Cancel
        </button>
      )}
      <p class="faint" role="status">
        {isStopped ? 'Stopped: what was sent stays in the service; sending goes on from there.' : ''}
      </p>
    </>
  );
}

function SendEntry({
  name,
  sent: { rows, total, missing, duplicate, isThere },
}: {
  readonly name: string;
  readonly sent: Sent;
}) {
  const left = [
    ...(missing > 0 ? [`${countText(missing)} missing`] : []),
    ...(duplicate > 0 ? [`${countText(duplicate)} replaced by a later sample of the same time`] : []),
  ];
  return (
    <li class="row wrap">
      <span>
        {name}:{' '}
        {isThere
          ? `the service has these ${counted(total, 'sample')} already`
          : rows === 0
            ? 'to be sent from this page'
            : `sent ${countText(rows)} of ${counted(total, 'sample')}`}
        {left.length > 0 && `; the service left out ${left.join(', ')}`}
      </span>
      {rows > 0 && !isThere && <progress aria-label={`Sent of ${name}`} value={rows} max={total} />}
    </li>
  );
}

/**
 * Sends the rest of a series, part by part. A part that failed can be sent again: the service stores one sample a time.
 */
async function sendSeries(
  client: ServiceClient,
  engine: EngineClient,
  series: SeriesReference,
  before: Sent,
  signal: AbortSignal,
  onSent: (sent: Sent) => void,
): Promise<void> {
  for (let sent = before; sent.rows < sent.total; onSent(sent)) {
    const { bytes, count, total } = await engine.ask('frame', series, sent.rows);
    const { missing, duplicate } = await client.write(bytes, signal);
    sent = {
      rows: sent.rows + count,
      total,
      missing: sent.missing + missing,
      duplicate: sent.duplicate + duplicate,
    };
  }
}
