import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Spark } from '../chart/spark.js';
import { ZoneField } from '../chart/zone-field.js';
import { counted, spanText } from '../chart/zoned-time.js';
import { type DataSet, keyOf, nameOf, type Reading } from '../engine/protocol.js';
import { readingSchema, saidOf } from '../formats/reading.js';
import { samples } from '../samples.js';
import { type UnreadFile, useWorkbench } from '../state.js';
import { ParameterFields } from './fields.js';
import { DrawToggle } from './step-card.js';

interface DataPanelProps {
  readonly open: (files: readonly File[]) => void;
  readonly setZone: (timezone: string) => void;
  readonly readAs: (name: string, reading: Reading) => void;
  readonly remove: (name: string) => void;
}

/** What was loaded, and ways to load more. */
export function DataPanel({ open, setZone, readAs, remove }: DataPanelProps) {
  const { state } = useWorkbench();
  const chooser = useRef<HTMLInputElement>(null);
  return (
    <section class="panel" aria-labelledby="data-title">
      <div class="row">
        <h2 id="data-title">Data</h2>
        <span class="spring" />
        <ZoneField
          label="Time zone"
          title="The zone of local days, and of times in files that have no offset (--timezone)"
          value={state.timezone}
          emptyZone={state.timezone}
          onZone={(timezone) => timezone !== '' && setZone(timezone)}
        />
      </div>
      <div class="row wrap">
        <button type="button" class={state.sets.length === 0 ? 'primary' : ''} onClick={() => chooser.current?.click()}>
          Open files…
        </button>
        <input
          ref={chooser}
          type="file"
          aria-label="Files to open"
          hidden
          multiple
          onChange={({ currentTarget }) => {
            open([...(currentTarget.files ?? [])]);
            currentTarget.value = '';
          }}
        />
        <span class="faint">or drop files; samples:</span>
        {samples.map((sample) => (
          <button type="button" key={sample.fileName} title={sample.about} onClick={() => open([sample.file()])}>
            {sample.title}
          </button>
        ))}
      </div>
      {[...state.sets, ...state.unread].map((file) => (
        <section key={file.name} class="set" aria-label={file.name}>
          <div class="row">
            <h3>{file.name}</h3>
            {'rows' in file && (
              <span class="faint">
                {counted(file.rows, 'row')}
                {file.missing > 0 ? `, ${file.missing.toLocaleString('en-US')} missing` : ''}
              </span>
            )}
            <span class="spring" />
            <button type="button" class="small" aria-label={`Remove ${file.name}`} onClick={() => remove(file.name)}>
              ×
            </button>
          </div>
          {'rows' in file ? <SetContent set={file} /> : <p class="problems">{file.problem}</p>}
          {file.columns !== undefined && <ReadingForm file={file} columns={file.columns} onRead={readAs} />}
        </section>
      ))}
    </section>
  );
}

const SERIES_SHOWN = 12;

function SetContent({ set: { notes, series } }: { readonly set: DataSet }) {
  return (
    <>
      {notes.length > 0 && <p class="small faint">{notes.join('; ')}</p>}
      <ul class="series">
        {series.slice(0, SERIES_SHOWN).map((info) => (
          <SeriesRow key={keyOf(info)} name={keyOf(info)} />
        ))}
      </ul>
      {series.length > SERIES_SHOWN && (
        <p class="faint">and {series.length - SERIES_SHOWN} more, to choose as inputs</p>
      )}
    </>
  );
}

interface ReadingFormProps {
  readonly file: DataSet | UnreadFile;
  readonly columns: readonly string[];
  readonly onRead: (name: string, reading: Reading) => void;
}

/** What a person says about a file that does not say plainly what it holds. */
function ReadingForm({ file, columns, onRead }: ReadingFormProps) {
  const problem = 'problem' in file ? file.problem : '';
  const [said, setSaid] = useState<Reading>(file.reading ?? {});
  const schema = useMemo(() => readingSchema(columns), [columns]);
  const [isOpen, setIsOpen] = useState(false);
  useEffect(() => {
    if (problem !== '') setIsOpen(true);
  }, [problem]);
  return (
    <details open={isOpen} onToggle={({ currentTarget: { open } }) => setIsOpen(open)}>
      <summary>How it is read</summary>
      <form
        class="step"
        onSubmit={(event) => {
          event.preventDefault();
          onRead(file.name, saidOf(said));
        }}
      >
        <div class="fields">
          <ParameterFields
            key={problem}
            schema={schema}
            parameters={said}
            pointer=""
            issues={[]}
            first={'options' in file ? file.options : []}
            onParameters={setSaid}
          />
        </div>
        <button type="submit">Read {file.name} like this</button>
      </form>
    </details>
  );
}

function SeriesRow({ name }: { readonly name: string }) {
  const { view } = useWorkbench();
  const shown = view.series.find(({ info, pointer }) => pointer === undefined && keyOf(info) === name);
  if (shown === undefined) return null;
  const { info } = shown;
  return (
    <li>
      <div class="row">
        <DrawToggle reference={info} />
        <span class="name" title={spanText({ fromMs: info.firstMs, untilMs: info.lastMs }, view.chartZone)}>
          {nameOf(info)}
        </span>
      </div>
      <Spark series={[shown]} />
    </li>
  );
}
