import { useEffect, useState } from 'preact/hooks';
import { keyOf, type Line, nameOf, type SeriesInfo } from '../engine/protocol.js';
import { useWorkbench } from '../state.js';
import { TableHead } from '../table-head.js';
import { WhyButton } from './why-button.js';
import { countText, timeText } from './zoned-time.js';

const PAGE = 25;

/** The samples of a chart, page by page, for those who prefer numbers or cannot see the chart. */
export function DataTable({ series, zone }: { readonly series: readonly SeriesInfo[]; readonly zone: string }) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <details class="data-table" onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}>
      <summary>Data table</summary>
      {isOpen && series.length > 0 && <Samples series={series} zone={zone} />}
    </details>
  );
}

function Samples({ series, zone }: { readonly series: readonly SeriesInfo[]; readonly zone: string }) {
  const { engine, state } = useWorkbench();
  const [wanted, setWanted] = useState('');
  const [first, setFirst] = useState(0);
  const [rows, setRows] = useState<Line>();
  const info = series.find((one) => keyOf(one) === wanted) ?? series[0]!;
  const key = keyOf(info);
  // A series that has fewer samples now may not reach as far.
  const from = first < info.count ? first : 0;
  useEffect(() => {
    let isCurrent = true;
    void engine.ask('rows', info, from, PAGE).then((found) => isCurrent && setRows(found));
    return () => {
      isCurrent = false;
    };
  }, [key, from, state.answer, info.count]);
  const last = Math.min(from + PAGE, info.count);
  return (
    <>
      <div class="row">
        {series.length > 1 && (
          <label class="inline">
            Series
            <select
              value={key}
              onChange={({ currentTarget: { value } }) => {
                setWanted(value);
                setFirst(0);
              }}
            >
              {series.map((one) => (
                <option key={keyOf(one)} value={keyOf(one)}>
                  {nameOf(one)}
                </option>
              ))}
            </select>
          </label>
        )}
        <button type="button" disabled={from === 0} onClick={() => setFirst(Math.max(0, from - PAGE))}>
          Previous
        </button>
        <button type="button" disabled={last >= info.count} onClick={() => setFirst(from + PAGE)}>
          Next
        </button>
        <span class="faint" role="status">
          {info.count === 0 ? 'no samples' : `${countText(from + 1)} to ${countText(last)} of ${countText(info.count)}`}
        </span>
      </div>
      <Rows info={info} rows={rows} zone={zone} />
    </>
  );
}

function Rows({
  info,
  rows,
  zone,
}: {
  readonly info: SeriesInfo;
  readonly rows: Line | undefined;
  readonly zone: string;
}) {
  return (
    <table class="samples">
      <caption class="hidden">Samples of {nameOf(info)}</caption>
      <TableHead columns={[`Time (${zone})`, { number: 'Value' }, { hidden: 'Origin' }]} />
      <tbody>
        {Array.from(rows?.timeMs ?? [], (timeMs, index) => (
          <tr key={timeMs}>
            <td>{timeText(timeMs, zone)}</td>
            <td class="number">{String(rows?.value[index])}</td>
            <td>
              <WhyButton series={info} timeMs={timeMs} label={`Why the value at ${timeText(timeMs, zone)}?`} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
