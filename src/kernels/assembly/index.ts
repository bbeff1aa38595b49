// Kernels in WebAssembly SIMD, two doubles at a time, for the functions that gain from it. Each gives the same bits as
// the JavaScript function of the same name in ../*.ts, which says what it computes. Pointers are byte offsets of
// columns. A kernel whose results may not be finite returns 1 if all are. csv.ts and json.ts, which parse CSV rows and
// JSON samples, are modules of their own.

export * from './elementwise';
export * from './round';
export * from './check';
export * from './select';
export { pointsEnd, stepPoints } from './points';
export * from './windows';
