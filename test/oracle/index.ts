// The oracle: semantics.md implemented plainly and independently of the engine, to test the engine against.

export { type OracleOptions, type OracleResult, type OracleSeries, runOracle } from './run.js';
export { parseDuration, parseInstant } from './time.js';
