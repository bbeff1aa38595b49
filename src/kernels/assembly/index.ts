// The kernels for which it pays, as WebAssembly SIMD: two doubles at a time, in the engine's own columns.
// Each gives the bits of the JavaScript function of its name in ../*.ts, which says what it computes.
// Pointers are byte offsets of columns; kernels whose results may not be finite return 1 if all are.
// csv.ts and json.ts, which parse rows of CSV and samples of JSON, are modules of their own.

export * from './elementwise';
export * from './round';
export * from './check';
export * from './select';
export * from './points';
export * from './windows';
