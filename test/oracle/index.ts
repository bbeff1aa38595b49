// The oracle's door: semantics.md written down plainly, apart from the engine, to hold the engine against.

export { type OracleOptions, type OracleResult, type OracleSeries, runOracle } from './run.js';
export { parseDuration, parseInstant } from './time.js';
