import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Issue, SeriesReference } from '../index.js';
import type { EngineClient } from './engine/client.js';
import {
  type DataSet,
  keyOf,
  type Reading,
  type RunAnswer,
  type SeriesInfo,
  type StepToRun,
  type TimeRange,
  type Unreadable,
} from './engine/protocol.js';
import type { Checked } from './request/check.js';
import type { Draft } from './request/draft.js';

/** What the page shows; it changes by actions alone. */
export interface State {
  readonly sets: readonly DataSet[];
  /** Files of which a person must say more before they can be read. */
  readonly unread: readonly UnreadFile[];
  readonly draft: Draft;
  readonly past: readonly Draft[];
  readonly future: readonly Draft[];
  /** Of local days, and of times in files that have no offset. */
  readonly timezone: string;
  /** Of the chart's axis; '' is that of the run. */
  readonly chartZone: string;
  /** The times that charts show; all of them where undefined. */
  readonly range: TimeRange | undefined;
  /** Series that were put on the large chart or taken from it by hand. */
  readonly drawn: ReadonlyMap<string, boolean>;
  readonly answer: RunAnswer;
  /** The steps that the answer is of. */
  readonly ranSteps: readonly StepToRun[];
  /** The sample whose origin is shown. */
  readonly asked: Asked | undefined;
  /** The window that it stands for, marked on the chart. */
  readonly window: TimeRange | undefined;
  /** What is being done, or went wrong. */
  readonly message: { readonly text: string; readonly isProblem: boolean } | undefined;
}

export interface UnreadFile extends Unreadable {
  readonly name: string;
  readonly reading: Reading;
}

/** A sample of a series, by its time. */
export interface Asked {
  readonly series: SeriesReference;
  readonly timeMs: number;
}

export type Action =
  | { readonly type: 'loaded'; readonly set: DataSet }
  | { readonly type: 'unread'; readonly file: UnreadFile; readonly left: readonly SeriesInfo[] }
  | { readonly type: 'removed'; readonly name: string; readonly left: readonly SeriesInfo[] }
  | { readonly type: 'edited'; readonly draft: Draft }
  | { readonly type: 'undo' | 'redo' }
  | { readonly type: 'draw'; readonly series: SeriesReference; readonly isDrawn: boolean }
  | { readonly type: 'set'; readonly to: Partial<Settable> }
  | { readonly type: 'told'; readonly text: string; readonly isProblem?: true };

/** What is replaced as it is. */
type Settable = Pick<State, 'answer' | 'ranSteps' | 'range' | 'asked' | 'window' | 'timezone' | 'chartZone'>;

export const startState: State = {
  sets: [],
  unread: [],
  draft: [],
  past: [],
  future: [],
  timezone: 'UTC',
  chartZone: '',
  range: undefined,
  drawn: new Map(),
  answer: { steps: [], sources: [], durationMs: 0 },
  ranSteps: [],
  asked: undefined,
  window: undefined,
  message: undefined,
};

const PAST_MAX = 100;

export function reduce(state: State, action: Action): State {
  switch (action.type) {
    case 'loaded': {
      const isNew = state.sets.every(({ name }) => name !== action.set.name);
      const sets = isNew
        ? [...state.sets, action.set]
        : state.sets.map((set) => (set.name === action.set.name ? action.set : set));
      const unread = without(state.unread, action.set.name);
      const { left, series } = action.set;
      return { ...state, sets: withInfos(sets, [...left, ...series]), unread, range: isNew ? undefined : state.range };
    }
    case 'unread':
    case 'removed': {
      const name = action.type === 'unread' ? action.file.name : action.name;
      const sets = withInfos(without(state.sets, name), action.left);
      const unread = without(state.unread, name);
      return { ...state, sets, unread: action.type === 'unread' ? [...unread, action.file] : unread, range: undefined };
    }
    case 'edited':
      return { ...state, draft: action.draft, past: [...state.past, state.draft].slice(-PAST_MAX), future: [] };
    case 'undo': {
      const draft = state.past.at(-1);
      if (draft === undefined) return state;
      return { ...state, draft, past: state.past.slice(0, -1), future: [state.draft, ...state.future] };
    }
    case 'redo': {
      const [draft, ...future] = state.future;
      return draft === undefined ? state : { ...state, draft, past: [...state.past, state.draft], future };
    }
    case 'set':
      return { ...state, ...action.to };
    case 'draw':
      return { ...state, drawn: new Map(state.drawn).set(keyOf(action.series), action.isDrawn) };
    case 'told':
      return {
        ...state,
        message: action.text === '' ? undefined : { text: action.text, isProblem: action.isProblem === true },
      };
  }
}

function without<Named extends { readonly name: string }>(files: readonly Named[], gone: string): Named[] {
  return files.filter(({ name }) => name !== gone);
}

// A series that several files have is one, with the samples of all of them.
function withInfos(sets: readonly DataSet[], infos: readonly SeriesInfo[]): DataSet[] {
  const now = new Map(infos.map((info) => [keyOf(info), info]));
  return sets.map((set) => ({ ...set, series: set.series.map((info) => now.get(keyOf(info)) ?? info) }));
}

/** Each series that is loaded, once; what a file and the service have under one name is of that which came last. */
export function loadedSeries(sets: readonly DataSet[]) {
  return [
    ...new Map(sets.flatMap(({ series, isFile }) => series.map((info) => [keyOf(info), { info, isFile }]))).values(),
  ];
}

/** What follows from the state. */
export interface View {
  readonly checked: Checked;
  /** Loaded series and results, each with its colour. */
  readonly series: readonly ShownSeries[];
  readonly lines: readonly ShownSeries[];
  readonly chartZone: string;
  /** The times of all that is drawn. */
  readonly extent: TimeRange | undefined;
}

export interface ShownSeries {
  readonly info: SeriesInfo;
  /** Index into the palette. */
  readonly colour: number;
  readonly isDrawn: boolean;
  /** Drawn wide and pale, so that a line of the same samples is seen, too. */
  readonly isWide: boolean;
  /** The pointer of the step that gave it; undefined for one that was loaded. */
  readonly pointer: string | undefined;
}

/** A series on the large chart, with its value axis. */
export interface PlacedSeries extends ShownSeries {
  readonly isRight: boolean;
}

/** Behind the metric of a result that the service has, and the page too. */
export const STORED = ', stored';

const SOURCES_DRAWN = 4;
/** Of the results so many are on the chart unless others are ticked: a pattern may have hundreds. */
const RESULTS_DRAWN = 8;

export function viewOf(state: State, checked: Checked): View {
  // What comes from the service stands last, so that the lines before it keep their colours.
  const loaded = (isFile: boolean) =>
    loadedSeries(state.sets)
      // A stored result that the pipeline gives too is the pipeline's here.
      .filter((one) => one.isFile === isFile && !given.has(keyOf(one.info)))
      .map(({ info }) => ({ info, pointer: undefined }));
  const steps = checked.request.flatMap(({ operations }) => operations);
  const read = new Set(steps.flatMap(({ input }) => input.map(keyOf)).slice(0, RESULTS_DRAWN));
  const results = new Set(checked.results.map(keyOf).slice(0, RESULTS_DRAWN));
  const isUsual = (info: SeriesInfo, pointer: string | undefined, index: number): boolean => {
    if (pointer !== undefined) return results.has(keyOf(info));
    return state.draft.length === 0 ? index < SOURCES_DRAWN : read.has(keyOf(info));
  };
  const given = new Set(state.answer.steps.map(({ info }) => keyOf(info)));
  const all = [
    ...loaded(true),
    ...state.answer.steps.map(({ info, pointer }) => ({ info, pointer })),
    ...loaded(false),
  ];
  const series = all.map(({ info, pointer }, index) => {
    const isDrawn = state.drawn.get(keyOf(info)) ?? isUsual(info, pointer, index);
    return { info, pointer, colour: index, isDrawn, isWide: info.metric.endsWith(STORED) };
  });
  const lines = series.filter(({ isDrawn }) => isDrawn);
  const extent = extentOf((lines.length === 0 ? series : lines).map(({ info }) => info));
  return { checked, series, lines, chartZone: state.chartZone || state.timezone, extent };
}

function extentOf(infos: readonly SeriesInfo[]): TimeRange | undefined {
  const filled = infos.filter(({ count }) => count > 0);
  if (filled.length === 0) return undefined;
  const fromMs = Math.min(...filled.map(({ firstMs }) => firstMs));
  const untilMs = Math.max(...filled.map(({ lastMs }) => lastMs));
  return fromMs === untilMs ? { fromMs: fromMs - 1000, untilMs: untilMs + 1000 } : { fromMs, untilMs };
}

/** The problems at a place of the request and below it. */
export function issuesAt(issues: readonly Issue[], pointer: string): readonly Issue[] {
  return issues.filter((issue) => issue.pointer === pointer || issue.pointer.startsWith(`${pointer}/`));
}

export interface Workbench {
  readonly state: State;
  readonly view: View;
  readonly engine: EngineClient;
  readonly act: (action: Action) => void;
}

const WorkbenchContext = createContext<Workbench | undefined>(undefined);
export const WorkbenchProvider = WorkbenchContext.Provider;

/** The page's state, from any part of it. */
export function useWorkbench(): Workbench {
  const workbench = useContext(WorkbenchContext);
  if (workbench === undefined) throw new Error('assertion failed: used outside the workbench');
  return workbench;
}
