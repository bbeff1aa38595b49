import { type Draft, isObject, readDraft } from './draft.js';

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

/** What a fragment holds; undefined where it is none of ours. */
export async function readLink(fragment: string): Promise<Shared | undefined> {
  if (!fragment.startsWith(`#${VERSION}`)) return undefined;
  try {
    const letters = atob(
      fragment
        .slice(1 + VERSION.length)
        .replaceAll('-', '+')
        .replaceAll('_', '/'),
    );
    const bytes = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
    const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
    const json: unknown = JSON.parse(await new Response(plain).text());
    if (!isObject(json)) return undefined;
    const read = readDraft(json.draft);
    if (!('draft' in read)) return undefined;
    const timezone = typeof json.timezone === 'string' ? json.timezone : 'UTC';
    return { draft: read.draft, timezone, ...(typeof json.sample === 'string' ? { sample: json.sample } : {}) };
  } catch {
    return undefined; // cut off, or made by hand
  }
}

/** The line that runs the request over the same files with the command. */
export function commandLine(files: readonly string[], timezone: string): string {
  const inputs = files.length === 0 ? ['data.csv'] : files;
  const zone = timezone === 'UTC' ? '' : ` --timezone ${timezone}`;
  return `npx windrow run request.json --input ${inputs.map(quoted).join(' ')} --output results.csv${zone}`;
}

function quoted(word: string): string {
  return /^[\w./+-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
