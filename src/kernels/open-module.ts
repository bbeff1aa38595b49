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

// A letter a byte, from ( to ~ without the backslash; after ! and # of the next 86 bytes, and of those after them.
function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(text.length);
  let count = 0;
  let base = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < 40) base = code === 33 ? 86 : 172;
    else {
      bytes[count++] = base + code - (code < 92 ? 43 : 44); // from 253 on, and over 255 from 0
      base = 0;
    }
  }
  return bytes.slice(0, count);
}
