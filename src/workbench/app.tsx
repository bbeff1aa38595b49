import { useEffect, useMemo, useReducer, useState } from 'preact/hooks';
import { DataPanel } from './build/data-panel.js';
import { PipelinePanel } from './build/pipeline.js';
import { RequestPanel } from './build/request-panel.js';
import { LargeChart } from './chart/large-chart.js';
import { onThemeChange, setLineColours, type Theme } from './chart/theme.js';
import { ZoneList } from './chart/zone-field.js';
import { copyText } from './download.js';
import { type EngineClient, newestOnly } from './engine/client.js';
import type { RunAnswer, StepToRun } from './engine/protocol.js';
import { useKeptFocus } from './focus.js';
import { useFiles } from './formats/files.js';
import { checkDraft } from './request/check.js';
import { readLink, writeLink } from './request/share.js';
import { samples } from './samples.js';
import { ServicePanel } from './service/service-panel.js';
import {
  type Action,
  loadedSeries,
  reduce,
  type State,
  startState,
  useWorkbench,
  viewOf,
  WorkbenchProvider,
} from './state.js';
import { ReplayPanel } from './stream/replay-panel.js';

const VIEWS = ['Build', 'Stream', 'Service'] as const;
type ViewName = (typeof VIEWS)[number];

/** The page. */
export function App({ engine }: { readonly engine: EngineClient }) {
  const [state, act] = useReducer<State, Action>(reduce, startState);
  const [shown, setShown] = useState<ViewName>('Build');
  const files = useFiles(engine, state, act);
  const loaded = useMemo(() => loadedSeries(state.sets).map(({ info }) => info), [state.sets]);
  const checked = useMemo(() => checkDraft(state.draft, state.timezone, loaded), [state.draft, state.timezone, loaded]);
  useRuns(engine, checked.steps, state, act);
  const { sets, draft, answer, drawn, timezone, chartZone } = state;
  // A new view draws the large chart anew, which takes its cursor away: a new range or question must not.
  const view = useMemo(() => viewOf(state, checked), [sets, draft, answer, drawn, timezone, chartZone, checked]);
  useLink(state, act, files);
  useKeptFocus();
  useEffect(() => {
    setLineColours();
    return onThemeChange(setLineColours);
  }, []);
  const isOnline = location.protocol.startsWith('http');
  const show = (name: ViewName): void => {
    setShown(name);
    // The answer stands beside the chart that was asked.
    act({ type: 'set', to: { asked: undefined, window: undefined } });
  };
  return (
    <WorkbenchProvider value={{ state, view, engine, act }}>
      <Header views={isOnline ? VIEWS : VIEWS.slice(0, 2)} shown={shown} onShow={show} />
      <Message onCancel={files.isBusy ? files.cancel : undefined} />
      <ZoneList />
      <main data-busy={files.isBusy}>
        <h1 class="hidden">windrow workbench</h1>
        {/* Panels that are not seen keep what was typed into them. */}
        <div class="columns" hidden={shown !== 'Build'}>
          <div class="left">
            <DataPanel {...files} />
            <PipelinePanel />
          </div>
          <div class="right">
            {shown === 'Build' && <LargeChart />}
            <RequestPanel onService={isOnline ? () => show('Service') : undefined} />
          </div>
        </div>
        {shown === 'Stream' && <ReplayPanel />}
        {isOnline && (
          <div hidden={shown !== 'Service'}>
            <ServicePanel isShown={shown === 'Service'} />
          </div>
        )}
      </main>
    </WorkbenchProvider>
  );
}

/** Runs what can run whenever it, or the data, has changed; of changes that come fast, the last. */
function useRuns(engine: EngineClient, steps: readonly StepToRun[], state: State, act: (action: Action) => void): void {
  const run = useMemo(
    () =>
      newestOnly(
        ({ steps: wanted, timezone }: { steps: readonly StepToRun[]; timezone: string }) =>
          engine.ask('run', wanted, timezone),
        (answer: RunAnswer, { steps: ran }) => act({ type: 'set', to: { answer, ranSteps: ran } }),
        (error) => act({ type: 'told', text: String(error), isProblem: true }),
      ),
    [engine],
  );
  useEffect(() => run({ steps, timezone: state.timezone }), [steps, state.timezone]);
}

/** Reads the link that the page was opened by, and writes it anew with each change. */
function useLink(state: State, act: (action: Action) => void, files: ReturnType<typeof useFiles>): void {
  const [isRead, setIsRead] = useState(false);
  const read = async (): Promise<void> => {
    try {
      const shared = await readLink(location.hash);
      if (shared !== undefined) {
        void files.setZone(shared.timezone);
        act({ type: 'edited', draft: shared.draft });
        const sample = samples.find(({ fileName }) => fileName === shared.sample);
        if (sample !== undefined) void files.open([sample.file()]);
      }
    } catch {
      act({ type: 'told', text: 'This link is not whole: copy it to its end.', isProblem: true });
    }
    setIsRead(true);
  };
  useEffect(() => {
    void read();
    // Another link, put into the address of the open page.
    addEventListener('hashchange', read);
    return () => removeEventListener('hashchange', read);
  }, []);
  const sample = state.sets.find(({ name }) => samples.some(({ fileName }) => fileName === name))?.name;
  useEffect(() => {
    const { draft, timezone, past, future } = state;
    // A page that nothing was built on has no link.
    if (!isRead || draft.length + past.length + future.length === 0) return;
    void writeLink({ draft, timezone, ...(sample === undefined ? {} : { sample }) }).then((link) =>
      history.replaceState(null, '', link),
    );
  }, [isRead, state.draft, state.timezone, sample]);
}

interface HeaderProps {
  readonly views: readonly ViewName[];
  readonly shown: ViewName;
  readonly onShow: (view: ViewName) => void;
}

function Header({ views, shown, onShow }: HeaderProps) {
  const { state, act } = useWorkbench();
  const [theme, setTheme] = useState<Theme>('auto');
  useEffect(() => {
    document.documentElement.dataset.theme = theme;
  }, [theme]);
  return (
    <header>
      <strong class="brand">
        <svg viewBox="0 0 32 32" aria-hidden="true">
          <path d="M3 22c5 0 5-6 10-6s5 6 10 6 4-3 6-4M3 14c5 0 5-6 10-6s5 6 10 6 4-3 6-4" />
        </svg>
        windrow
      </strong>
      <nav aria-label="Views">
        {views.map((name) => (
          <button
            key={name}
            type="button"
            aria-current={name === shown ? 'page' : undefined}
            onClick={() => onShow(name)}
          >
            {name}
          </button>
        ))}
      </nav>
      <span class="spring" />
      <button
        type="button"
        disabled={state.draft.length === 0}
        onClick={async () => {
          const isCopied = await copyText(location.href);
          act({
            type: 'told',
            text: `${isCopied ? 'The link is copied' : 'Copy the address'}: it holds the pipeline, not the data.`,
          });
        }}
      >
        Share link
      </button>
      <label class="inline">
        Colours
        <select
          value={theme}
          onChange={({ currentTarget: { value } }) => setTheme(value === 'light' || value === 'dark' ? value : 'auto')}
        >
          <option value="auto">auto</option>
          <option value="light">light</option>
          <option value="dark">dark</option>
        </select>
      </label>
    </header>
  );
}

function Message({ onCancel }: { readonly onCancel: (() => void) | undefined }) {
  const { state, act } = useWorkbench();
  const { message } = state;
  return (
    <div class="message-place" role="status">
      {message !== undefined && (
        <p class={message.isProblem ? 'message problem' : 'message'}>
          {message.text}
          {onCancel !== undefined ? (
            <button type="button" onClick={onCancel}>
              Cancel
            </button>
          ) : (
            <button type="button" class="small" aria-label="Dismiss" onClick={() => act({ type: 'told', text: '' })}>
              ×
            </button>
          )}
        </p>
      )}
    </div>
  );
}
