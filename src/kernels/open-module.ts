/** Modules that were compiled before, by their text; undefined for one that cannot be. */
const compiled = new Map<string, WebAssembly.Module | undefined>();

/**
 * Opens a module of kernels over the memory of the columns, and gives its exports: undefined where there is no SIMD,
 * or where the platform forbids to compile so many bytes at once (Chrome before 115, outside of workers). The
 * JavaScript loops are then the whole truth.
 *
 * @param text its bytes as `scripts/build-kernels.mjs` writes them.
 */
export function openModule(text: string, memory: WebAssembly.Memory): unknown {
  if (!compiled.has(text)) compiled.set(text, compile(text));
  const module = compiled.get(text);
  return module === undefined ? undefined : new WebAssembly.Instance(module, { env: { memory } }).exports;
}

// A byte is a letter from `(` to `{` without the backslash: 83 of them. Before it one of the next three letters may
// say how many times 83 to add. gzip packs that better than hexadecimal digits or base64, and it is shorter.
const FIRST_LETTER = 40;
const BACKSLASH = 92;
const LAST_LETTER = 123;
const LETTER_COUNT = LAST_LETTER - FIRST_LETTER;

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  const bytes: number[] = [];
  let more = 0;
  for (let i = 0; i < text.length; i++) {
    const letter = text.charCodeAt(i);
    if (letter > LAST_LETTER) more = (letter - LAST_LETTER) * LETTER_COUNT;
    else {
      bytes.push(more + letter - FIRST_LETTER - (letter > BACKSLASH ? 1 : 0));
      more = 0;
    }
  }
  return Uint8Array.from(bytes);
}

function compile(text: string): WebAssembly.Module | undefined {
  const bytes = bytesOf(text);
  if (!WebAssembly.validate(bytes)) return undefined;
  try {
    return new WebAssembly.Module(bytes);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
