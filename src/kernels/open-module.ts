/** Compiled modules by their text; undefined for one that cannot be compiled here. */
const compiled = new Map<string, WebAssembly.Module | undefined>();

/**
 * Instantiates a module of kernels over a memory and returns its exports. Undefined if there is no SIMD, or if the
 * platform forbids compiling: for pages whose Content-Security-Policy lacks 'wasm-unsafe-eval', and of this many bytes
 * synchronously in Chrome before 115, outside workers. Then the JavaScript loops do all the work.
 *
 * @param text the module's bytes as `scripts/build-kernels.mjs` encodes them.
 */
export function openModule(text: string, memory: WebAssembly.Memory): unknown {
  let module = compiled.get(text);
  if (!compiled.has(text)) {
    try {
      module = new WebAssembly.Module(bytesOf(text));
    } catch {
      // It cannot be compiled here.
    }
    compiled.set(text, module);
  }
  return module && new WebAssembly.Instance(module, { env: { memory } }).exports;
}

// The text begins with 88 letters: 86 numbers in their order, and two that say that the next one is 86 or 172 more.
function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(text.length);
  let count = 0;
  let base = 253;
  for (let i = 88; i < text.length; i++) {
    const number = text.indexOf(text[i]!);
    if (number < 86) bytes[count++] = base + number; // modulo 256
    base = number < 86 ? 253 : 253 + 86 * (number - 85);
  }
  return bytes.slice(0, count);
}
