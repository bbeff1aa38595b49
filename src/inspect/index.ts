// Exported as `windrow/inspect`: explains plans, lists operations, and explains, verifies and compares results.

export { type OperationInfo, operations } from '../operations/info.js';
export type { Example, ExampleSample } from '../operations/operation.js';
export type { JsonSchema } from '../operations/parameters.js';
export { explain } from '../plan/explain.js';
export { type ChangedResult, type ChangedSample, diff } from './diff.js';
export type { Action } from './feeding.js';
export { type Difference, type Verified, type VerifyOptions, verify } from './verify.js';
export {
  type GivenSample,
  type LeftOut,
  type Sample,
  type Why,
  type WhyInput,
  type WhySource,
  type WhyStep,
  why,
} from './why.js';
