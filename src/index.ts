export type { Duration } from './core/duration.js';
export {
  CheckpointError,
  type ErrorCode,
  errorCodes,
  InputError,
  type Issue,
  type OptionHint,
  OutputLimitError,
  RequestError,
  WindrowError,
} from './core/errors.js';
export type { Instant } from './core/instant.js';
export type { IntervalName } from './core/interval.js';
export type { Series, SeriesReference } from './core/series.js';
export { loadSeries } from './engine/batch/loaded-series.js';
export type { Run } from './engine/batch/run.js';
export { type BatchOptions, runBatch } from './engine/batch/run-batch.js';
export type { Fleet, FleetRun, FleetSeries } from './engine/fleet/fleet.js';
export type { FleetSamples } from './engine/fleet/fleet-sink.js';
export type { FleetInput } from './engine/fleet/input.js';
export { openFleet, restoreFleet } from './engine/fleet/live-fleet.js';
export type { RunOptions, StreamOptions } from './engine/options.js';
export type { Report, SourceReport, StepReport } from './engine/report.js';
export { openStream, restoreStream, type Stream } from './engine/stream/stream.js';
export type {
  AggregateFunction,
  AggregateStage,
  AggregateWindow,
  WindowParameters,
} from './operations/aggregate/parameters.js';
export type { RangeParameters } from './operations/mask.js';
export type { Parameters as StepParameters, ParameterValue } from './operations/parameters.js';
export type { ShiftParameters } from './operations/shift.js';
export type { AlignParameters, Operand } from './operations/two-inputs.js';
export { createPlan, type PlanOptions } from './plan/create-plan.js';
export { type Pipeline, pipeline } from './plan/pipeline.js';
export type { Plan, PlanInput, PlanItem, PlanStep } from './plan/plan.js';
export type { Frequency, OperationName, RequestFile, RequestItem, RequestStep } from './plan/request.js';
