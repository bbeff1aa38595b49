import { isZone } from '../../plot/time-ticks.js';
import type { DataSet } from '../engine/protocol.js';
import { wordsOf } from '../formats/reading.js';
import { type Draft, readDraft } from './draft.js';

/** What a link holds: the request and how it is looked at, never the data. */
export interface Shared {
  readonly draft: Draft;
  readonly timezone: string;
  /** The sample that it was built on, if it was one. */
  readonly sample?: string;
}

const VERSION = '1.';

/** The fragment of a link: JSON, packed, in letters that a URL takes. */
export async function writeLink(shared: Shared): Promise<string> {
  const packed = new Blob([JSON.stringify(shared)]).stream().pipeThrough(new CompressionStream('deflate-raw'));
  const bytes = new Uint8Array(await new Response(packed).arrayBuffer());
  const letters = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
  return `#${VERSION}${letters.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')}`;
}

/** What a fragment holds; undefined where it is none of ours. Throws where it was cut off, or made by hand. */
export async function readLink(fragment: string): Promise<Shared | undefined> {
  if (!fragment.startsWith(`#${VERSION}`)) return undefined;
  const letters = atob(
    fragment
      .slice(1 + VERSION.length)
      .replaceAll('-', '+')
      .replaceAll('_', '/'),
  );
  const bytes = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
  const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
  const json = Object(JSON.parse(await new Response(plain).text()));
  const read = readDraft(json.draft);
  const { timezone, sample } = json;
  if ('problem' in read || !isZone(String(timezone))) throw new Error('no link of this page');
  return { draft: read.draft, timezone: String(timezone), ...(typeof sample === 'string' ? { sample } : {}) };
}

/**
 * The line that runs the request over the same files with the command; undefined if they are read in several ways, as
 * the command reads all files of a run in one.
 */
export function commandLine(files: readonly DataSet[], timezone: string): string | undefined {
  const [said = [], ...others] = files.map(({ reading = {} }) => wordsOf(reading));
  if (others.some((words) => words.join('\n') !== said.join('\n'))) return undefined;
  const inputs = files.length === 0 ? ['data.csv'] : files.map(({ name }) => name);
  const zone = timezone === 'UTC' ? [] : ['--timezone', timezone];
  const words = ['run', 'request.json', '--input', ...inputs, '--output', 'results.csv', ...said, ...zone];
  return `npx windrow ${words.map(quoted).join(' ')}`;
}

function quoted(word: string): string {
  return /^[\w./+-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
