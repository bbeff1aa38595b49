import { useRef, useState } from 'preact/hooks';
import { isZone } from '../../plot/time-ticks.js';
import { Spark } from '../chart/spark.js';
import { counted, spanText } from '../chart/zoned-time.js';
import { keyOf, nameOf } from '../engine/protocol.js';
import { samples } from '../samples.js';
import { useWorkbench } from '../state.js';
import { DrawToggle } from './step-card.js';

interface DataPanelProps {
  readonly onFiles: (files: readonly File[]) => void;
  readonly onZone: (timezone: string) => void;
  readonly onRemove: (name: string) => void;
}

/** What was loaded, and ways to load more. */
export function DataPanel({ onFiles, onZone, onRemove }: DataPanelProps) {
  const { state } = useWorkbench();
  const chooser = useRef<HTMLInputElement>(null);
  return (
    <section class="panel" aria-labelledby="data-title">
      <div class="row">
        <h2 id="data-title">Data</h2>
        <span class="spring" />
        <RunZone onZone={onZone} />
      </div>
      <div class="row wrap">
        <button type="button" class={state.sets.length === 0 ? 'primary' : ''} onClick={() => chooser.current?.click()}>
          Open files…
        </button>
        <input
          ref={chooser}
          class="hidden"
          type="file"
          aria-label="Files to open"
          tabIndex={-1}
          multiple
          onChange={({ currentTarget }) => {
            onFiles([...(currentTarget.files ?? [])]);
            currentTarget.value = '';
          }}
        />
        <span class="faint">or drop files; samples:</span>
        {samples.map((sample) => (
          <button type="button" key={sample.fileName} title={sample.about} onClick={() => onFiles([sample.file()])}>
            {sample.title}
          </button>
        ))}
      </div>
      {state.sets.map(({ name, series, rows, missing, notes }) => (
        <section key={name} class="set" aria-label={name}>
          <div class="row">
            <h3>{name}</h3>
            <span class="faint">
              {counted(rows, 'row')}
              {missing > 0 ? `, ${missing.toLocaleString('en-US')} missing` : ''}
            </span>
            <span class="spring" />
            <button type="button" class="small" aria-label={`Remove ${name}`} onClick={() => onRemove(name)}>
              ×
            </button>
          </div>
          {notes.length > 0 && <p class="small faint">{notes.join('; ')}</p>}
          <ul class="series">
            {series.slice(0, SERIES_SHOWN).map((info) => (
              <SeriesRow key={keyOf(info)} name={keyOf(info)} />
            ))}
          </ul>
          {series.length > SERIES_SHOWN && (
            <p class="faint">and {series.length - SERIES_SHOWN} more, to choose as inputs</p>
          )}
        </section>
      ))}
    </section>
  );
}

const SERIES_SHOWN = 12;

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

function RunZone({ onZone }: { readonly onZone: (timezone: string) => void }) {
  const { state } = useWorkbench();
  const [text, setText] = useState<string>();
  const shown = text ?? state.timezone;
  return (
    <label class="inline" title="The zone of local days, and of times in files that have no offset (--timezone)">
      Time zone
      <input
        list="zones"
        size={16}
        value={shown}
        aria-invalid={!isZone(shown)}
        onInput={({ currentTarget: { value } }) => {
          setText(value);
          if (isZone(value) && value !== '') onZone(value);
        }}
        onBlur={() => setText(undefined)}
      />
    </label>
  );
}
