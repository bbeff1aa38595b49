// What the kernels use of WebAssembly. TypeScript declares it in the DOM's library alone, which the core goes without.

declare namespace WebAssembly {
  interface MemoryDescriptor {
    readonly initial: number;
    readonly maximum?: number;
    readonly shared?: boolean;
  }

  class Memory {
    constructor(descriptor: MemoryDescriptor);
    readonly buffer: ArrayBuffer;
  }

  class Module {
    constructor(bytes: ArrayBufferView | ArrayBuffer);
  }

  class Instance {
    constructor(module: Module, imports?: Record<string, Record<string, unknown>>);
    readonly exports: Record<string, unknown>;
  }

  function validate(bytes: ArrayBufferView | ArrayBuffer): boolean;
}
