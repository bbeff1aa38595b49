import { useEffect, useRef, useState } from 'preact/hooks';
import type { EngineClient } from '../engine/client.js';
import { type DataSet, messageOf, type Reading, type Unreadable } from '../engine/protocol.js';
import { readRequest } from '../request/draft.js';
import type { Action, State } from '../state.js';
import { readOther } from './read-other.js';
import { CANCELLED } from './reading.js';

/** Files by their names, with what was said about each. */
type Kept = Map<string, { readonly file: File; readonly reading: Reading }>;

/** What reading a file takes. */
interface From {
  readonly engine: EngineClient;
  readonly kept: Kept;
  readonly timezone: string;
  readonly signal: AbortSignal;
}

/** Files that were opened are kept, to be read again where the zone of their times changes, or what is said of them. */
export function useFiles(engine: EngineClient, state: State, act: (action: Action) => void) {
  const kept = useRef<Kept>(new Map());
  /** What is to be read, the first of it being read; or why it cannot be. */
  const queue = useRef<(File | string)[]>([]);
  const [isBusy, setIsBusy] = useState(false);
  const stopping = useRef(new AbortController());
  const zone = useRef(state.timezone);
  zone.current = state.timezone;
  const open = async (added: readonly (File | string)[]): Promise<void> => {
    // What comes while another file is read has its turn after it.
    if (queue.current.push(...added) > added.length) return;
    setIsBusy(true);
    // Each file that cannot be read is reported.
    const problems: string[] = [];
    for (let one = queue.current[0]; one !== undefined; one = queue.current[0]) {
      problems.push(typeof one === 'string' ? one : await read(one));
      queue.current.shift();
    }
    act({ type: 'told', text: problems.filter(Boolean).join('\n'), isProblem: true });
    setIsBusy(false);
  };
  const read = async (file: File): Promise<string> => {
    const isSame = (other: File | string): boolean =>
      typeof other !== 'string' && other !== file && other.name === file.name;
    if (queue.current.some(isSame)) return `${file.name}: another file of this name replaces it`;
    act({ type: 'told', text: `Reading ${file.name} …` });
    stopping.current = new AbortController();
    const from = { engine, kept: kept.current, timezone: zone.current, signal: stopping.current.signal };
    const problem = await take(file, from, act).catch(messageOf);
    return (problem === '' || problem.startsWith(file.name) ? '' : `${file.name}: `) + problem;
  };
  const remove = async (name: string): Promise<void> => {
    kept.current.delete(name);
    act({ type: 'removed', name, left: await engine.ask('remove', name) });
  };
  useDrop(open);
  return {
    isBusy,
    open,
    cancel: (): void => {
      // All but the first, which is being read.
      for (const [at, one] of queue.current.entries()) {
        if (at === 0 || typeof one === 'string') continue;
        queue.current[at] = `${one.name} ${CANCELLED}`;
        // What was read of it in another zone, or otherwise, goes.
        if (kept.current.get(one.name)?.file === one) void remove(one.name);
      }
      stopping.current.abort();
      engine.stopLoading();
    },
    setZone: async (timezone: string): Promise<void> => {
      if (timezone === zone.current) return;
      act({ type: 'set', to: { timezone } });
      zone.current = timezone;
      await open([...kept.current.values()].map(({ file }) => file));
    },
    readAs: async (name: string, reading: Reading): Promise<void> => {
      const { file } = kept.current.get(name)!;
      kept.current.set(name, { file, reading });
      await open([file]);
    },
    remove,
  };
}

/** Reads a file and takes what it holds. Returns what is wrong with it, or ''. */
async function take(file: File, from: From, act: (action: Action) => void): Promise<string> {
  const { engine, kept } = from;
  if (/\.json$/i.test(file.name) && /"operations"\s*:\s*\[/.test(await file.slice(0, 1e6).text())) {
    const found = readRequest(await file.text());
    if ('problem' in found) return found.problem;
    act({ type: 'edited', draft: found.draft });
    return '';
  }
  const { name } = file;
  const { reading = {} } = kept.get(name) ?? {};
  // Before it is read: what is changed meanwhile, such as the zone, is for this file too.
  kept.set(name, { file, reading });
  const set = await load(file, reading, from);
  if (!kept.has(name)) {
    await engine.ask('remove', name);
    return '';
  }
  if ('problem' in set) {
    const left = await engine.ask('remove', name);
    if (set.columns.length === 0 && set.options.length === 0) {
      kept.delete(name);
      act({ type: 'removed', name, left });
      return set.problem;
    }
    act({ type: 'unread', file: { ...set, name, reading }, left });
    return set.options.length > 0 ? 'say under Data how to read it' : set.problem;
  }
  act({ type: 'loaded', set });
  return '';
}

/** Names of files whose reader is no part of the page's script. */
const OTHER_FORMATS = /\.(parquet|arrows?|feather|ipc|ndjson|jsonl?|lp)(\.gz)?$|\.zst$/i;

async function load(file: File, reading: Reading, { engine, timezone, signal }: From): Promise<DataSet | Unreadable> {
  if (!OTHER_FORMATS.test(file.name)) return engine.ask('load', file, timezone, reading);
  const read = await readOther(file, timezone, reading, signal);
  if ('problem' in read) return read;
  const { series, ...about } = read;
  return engine.ask('take', { name: file.name, isFile: true, reading, ...about }, series);
}

function useDrop(open: (added: readonly (File | string)[]) => void): void {
  useEffect(() => {
    const drop = (event: DragEvent): void => {
      const files = filesOf(event);
      if (files === undefined) return;
      delete document.documentElement.dataset.dragging;
      // A folder comes as a file that cannot be read.
      const folders = [...files.items].flatMap((one) => {
        const entry = one.webkitGetAsEntry();
        return entry?.isDirectory ? [entry.name] : [];
      });
      open([
        ...[...files.files].filter(({ name }) => !folders.includes(name)),
        ...folders.map((name) => `${name}: this is a folder; drop the files in it`),
      ]);
    };
    const over = (event: DragEvent): void => {
      if (filesOf(event) !== undefined) document.documentElement.dataset.dragging = 'yes';
    };
    const leave = (event: DragEvent): void => {
      if (event.relatedTarget === null) delete document.documentElement.dataset.dragging;
    };
    const events = { drop, dragover: over, dragleave: leave };
    for (const [name, listen] of Object.entries(events)) addEventListener(name, listen as EventListener);
    return () => {
      for (const [name, listen] of Object.entries(events)) removeEventListener(name, listen as EventListener);
    };
  }, []);
}

/** What is dragged, if it is files: texts go where they are dropped. */
function filesOf(event: DragEvent): DataTransfer | undefined {
  if (!event.dataTransfer?.types.includes('Files')) return undefined;
  event.preventDefault();
  return event.dataTransfer;
}
