/** Compiled modules by their text; undefined for one that cannot be compiled here. */
const compiled = new Map<string, WebAssembly.Module | undefined>();

/**
 * Instantiates a module of kernels over a memory and returns its exports. Undefined if there is no SIMD, or if the
 * platform forbids compiling this many bytes synchronously (Chrome before 115, outside workers); then the JavaScript
 * loops do all the work.
 *
 * @param text the module's bytes as `scripts/build-kernels.mjs` encodes them.
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

// One letter a byte: the 86 letters from ( to ~ without the backslash. After ! a letter stands for the next 86 byte
// values, after # for those after them.
function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(text.length);
  let count = 0;
  let base = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < 40) base = code === 33 ? 86 : 172;
    else {
      bytes[count++] = base + code - (code < 92 ? 43 : 44); // shifted by 253, modulo 256
      base = 0;
    }
  }
  return bytes.slice(0, count);
}
