/** Modules that were compiled before, by their text; undefined for one that cannot be. */
const compiled = new Map<string, WebAssembly.Module | undefined>();

/**
 * Opens a module of kernels over the memory of the columns, and gives its exports: undefined where there is no SIMD,
 * or where the platform forbids to compile so many bytes at once (Chrome before 115, outside of workers). The
 * JavaScript loops are then the whole truth.
 *
 * @param hex its bytes as hexadecimal digits, which gzip packs better than base64: the same bytes look the same.
 */
export function openModule(hex: string, memory: WebAssembly.Memory): unknown {
  if (!compiled.has(hex)) compiled.set(hex, compile(hex));
  const module = compiled.get(hex);
  return module === undefined ? undefined : new WebAssembly.Instance(module, { env: { memory } }).exports;
}

function compile(hex: string): WebAssembly.Module | undefined {
  const bytes = new Uint8Array(hex.length / 2);
  for (let i = 0; i < bytes.length; i++) bytes[i] = Number.parseInt(hex.slice(2 * i, 2 * i + 2), 16);
  if (!WebAssembly.validate(bytes)) return undefined;
  try {
    return new WebAssembly.Module(bytes);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
