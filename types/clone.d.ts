// What browsers and Node both have for moving a buffer.

declare function structuredClone<T>(value: T, options?: { transfer?: readonly ArrayBuffer[] }): T;
