import { useState } from 'preact/hooks';
import { countText } from '../chart/zoned-time.js';
import { TableHead } from '../table-head.js';
import type { Page } from './api.js';
import type { PartProps, StateOf } from './part-props.js';
import { ProblemLines } from './problem-lines.js';
import { useProblem } from './use-problem.js';

const SHOWN = ['occurredAt', 'name', 'severity', 'status', 'id', 'descr'];
const PAGE_SIZES = [10, 50, 200];

/** What a person asks for: a collection, and clauses about its events. */
export type AskedEvents = Readonly<Record<'collection' | '$filter' | '$orderby', string>>;

const FIELDS: readonly (readonly [name: keyof AskedEvents, label: string, placeholder: string])[] = [
  ['collection', 'Collection', 'demo-building'],
  ['$filter', 'Filter', "severity eq 'Low' and status eq 'Open'"],
  ['$orderby', 'Order', 'occurredAt desc'],
];

/** Events of a collection, filtered and page by page. */
export function EventsPanel({ client, onSignedOut, wanted }: PartProps & { readonly wanted: StateOf<AskedEvents> }) {
  const { lines, attempt } = useProblem(onSignedOut);
  const [asked, setAsked] = wanted;
  /** What the page is of: what is typed since then is for the next reading. */
  const [read, setRead] = useState(asked);
  const [pageSize, setPageSize] = useState(10);
  const [page, setPage] = useState<Page<Readonly<Record<string, unknown>>>>();
  /** How many events the pages before this one had. */
  const [before, setBefore] = useState(0);
  const readOn = (of: AskedEvents, after: string | null): Promise<boolean> =>
    attempt(async () => {
      const { collection, ...clauses } = of;
      setPage(await client.events(collection, clauses, after, pageSize));
      setRead(of);
      setBefore(after === null ? 0 : before + page!.entries.length);
    });
  return (
    <section class="panel" aria-labelledby="events-title">
      <h2 id="events-title">Events</h2>
      <form
        class="row wrap"
        onSubmit={(event) => {
          event.preventDefault();
          void readOn(asked, null);
        }}
      >
        {FIELDS.map(([name, label, placeholder]) => (
          <label class="inline" key={name}>
            {label}
            <input
              list={undefined}
              required={name === 'collection'}
              size={name === '$filter' ? 34 : 16}
              placeholder={placeholder}
              value={asked[name]}
              onInput={({ currentTarget: { value } }) => setAsked({ ...asked, [name]: value })}
            />
          </label>
        ))}
        <label class="inline">
          A page has
          <select value={String(pageSize)} onChange={({ currentTarget: { value } }) => setPageSize(Number(value))}>
            {PAGE_SIZES.map((size) => (
              <option key={size} value={String(size)}>
                {size}
              </option>
            ))}
          </select>
        </label>
        <button type="submit">Read events</button>
        <button type="button" disabled={page?.next == null} onClick={() => readOn(read, page?.next ?? null)}>
          Next events
        </button>
      </form>
      <ProblemLines lines={lines} />
      <p class="faint" role="status">
        {page &&
          [
            page.totalCount !== undefined && `${countText(page.totalCount)} events match`,
            page.entries.length > 0 && `${before + 1} to ${before + page.entries.length} are shown`,
          ]
            .filter(Boolean)
            .join(', ')}
      </p>
      {page && <EventTable events={page.entries} />}
    </section>
  );
}

function EventTable({ events }: { readonly events: readonly Readonly<Record<string, unknown>>[] }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: on a phone it scrolls, by the keyboard too
    <div class="table-scroll" tabIndex={0}>
      <table>
        <caption class="hidden">Events</caption>
        <TableHead columns={SHOWN} />
        <tbody>
          {events.map((event) => (
            <tr key={String(event.id)}>
              {SHOWN.map((name) => (
                <td key={name}>{event[name] == null ? '' : String(event[name])}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
