import { describeValue, type Issue } from '../core/errors.js';
import type { SeriesReference } from '../core/series.js';
import type { InTurns } from '../core/turns.js';
import { findOperation, suggestOperation } from '../operations/index.js';
import type { Operation } from '../operations/operation.js';
import {
  isObjectOf,
  type Parameters,
  type ReadContext,
  type Report,
  readName,
  readParameters,
  refuse,
  reportMissing,
  within,
} from '../operations/parameters.js';

/** An item of a request with every field checked by itself. How its parts fit together is checked later. */
export interface RequestItem {
  readonly pointer: string;
  /** This and the two fields below are undefined if they have a problem. */
  readonly metric: string | undefined;
  readonly processingType: 'stream' | 'batch' | undefined;
  readonly frequency: string | undefined;
  /** The steps without a problem; how these fit together is checked even if others have problems. */
  readonly steps: readonly RequestStep[];
  readonly isWhole: boolean;
}

export interface RequestStep {
  readonly pointer: string;
  readonly operation: Operation;
  readonly parameters: Parameters;
  /** Whether it names a zone of its own. */
  readonly hasTimezone: boolean;
  readonly inputs: readonly SeriesReference[];
  readonly output: SeriesReference;
}

/** How many steps to read before yielding; reading one takes about ten microseconds. */
const STEPS_PER_SLICE = 300;

const ITEM_FIELDS = ['metric', 'operations', 'processingType', 'frequency'];
const STEP_FIELDS = ['operation', 'input', 'output', 'parameters'];
export const FREQUENCIES = ['PT15M', 'PT1H', 'PT24H'];

/** Reads a request in slices. Problems go to `issues`, and parts with problems are left out of the result. */
export function* readRequest(given: unknown, timezone: string, issues: Issue[]): InTurns<RequestItem[]> {
  const report: Report = (below, code, expected, received, suggestion) => {
    issues.push({ pointer: below, code, expected, received, ...(suggestion === undefined ? {} : { suggestion }) });
  };
  // In a file the items may be in an object, because editors look for `$schema` in one.
  const isFile = isFileOfItems(given);
  const request = isFile ? given.items : given;
  const place = isFile ? '/items' : '';
  if (!Array.isArray(request)) {
    const isItem = request !== null && typeof request === 'object' && 'operations' in request;
    const hint = isItem ? 'put the item into an array: [ … ]' : undefined;
    report('', 'request.type', 'an array of request items', describeValue(request), hint);
    return [];
  }
  if (request.length === 0) report('', 'request.missing', 'at least one request item', 'an empty array');
  const items: RequestItem[] = [];
  let stepCount = 0;
  for (const [index, posted] of request.entries()) {
    const item = readItem(posted, `${place}/${index}`, timezone, report);
    if (item !== undefined) items.push(item);
    stepCount += stepCountOf(posted);
    if (stepCount < STEPS_PER_SLICE) continue;
    yield;
    stepCount = 0;
  }
  return items;
}

// All its steps, as those with problems take the longest to read.
function stepCountOf(posted: unknown): number {
  const { operations } = Object(posted);
  return Array.isArray(operations) ? operations.length : 0;
}

function isFileOfItems(given: unknown): given is { readonly items: unknown } {
  if (given === null || typeof given !== 'object' || Array.isArray(given)) return false;
  return 'items' in given && Object.keys(given).every((name) => name === 'items' || name === '$schema');
}

function readItem(item: unknown, pointer: string, timezone: string, reportAll: Report): RequestItem | undefined {
  const report = within(reportAll, pointer);
  // One problem in place of one for each method.
  if (typeof Object(item).as === 'function') {
    return refuse(report, 'request.type', "`.as('…')` at the end", item);
  }
  if (!isObjectOf(item, ITEM_FIELDS, report)) return undefined;
  const metric = readText(item.metric, 'a name for the result', within(report, '/metric'));
  const processingType = readProcessingType(item.processingType, within(report, '/processingType'));
  const frequency = readFrequency(item.frequency, processingType, within(report, '/frequency'));
  const { operations } = item;
  if (!Array.isArray(operations) || operations.length === 0) {
    report('/operations', 'request.type', 'an array of one or more steps', describeValue(operations));
    return undefined;
  }
  // `Array.from` sees the holes of a sparse array, which `map` would skip.
  const steps = Array.from(operations, (step, index) =>
    readStep(step, `${pointer}/operations/${index}`, timezone, reportAll),
  );
  const sound = steps.filter((step) => step !== undefined);
  return { pointer, metric, processingType, frequency, steps: sound, isWhole: sound.length === steps.length };
}

function readProcessingType(value: unknown, report: Report): 'stream' | 'batch' | undefined {
  const name = readName(value, ['stream', 'batch'], report);
  return name === 'stream' || name === 'batch' ? name : undefined;
}

function readFrequency(value: unknown, processingType: string | undefined, report: Report): string | undefined {
  if (value === undefined) return undefined;
  if (processingType === 'stream') {
    report('', 'request.conflict', 'frequency only with processingType batch', describeValue(value), 'leave it out');
  }
  return readName(value, FREQUENCIES, report);
}

function readText(value: unknown, expected: string, report: Report): string | undefined {
  if (typeof value === 'string' && value !== '') return value;
  return refuse(report, 'request.type', expected, value);
}

function readStep(step: unknown, pointer: string, timezone: string, reportAll: Report): RequestStep | undefined {
  const report = within(reportAll, pointer);
  if (!isObjectOf(step, STEP_FIELDS, report)) return undefined;
  const operation = readOperation(step.operation, within(report, '/operation'));
  const inputs = readReferences(step.input, within(report, '/input'));
  const outputs = readReferences(step.output, within(report, '/output'));
  if (outputs !== undefined && outputs.length !== 1) {
    report('/output', 'request.inputs', 'exactly one output', String(outputs.length));
  }
  if (operation === undefined) return undefined;
  const parameters = readStepParameters(
    step.parameters,
    operation,
    timezone,
    within(report, '/parameters'),
    inputs?.length,
  );
  if (inputs !== undefined) checkInputs(operation, step.parameters, inputs.length, report);
  const output = outputs?.[0];
  if (parameters === undefined || inputs === undefined || output === undefined) return undefined;
  const hasTimezone = Object.hasOwn(Object(step.parameters), 'timezone');
  return { pointer, operation, parameters, hasTimezone, inputs, output };
}

function readOperation(value: unknown, report: Report): Operation | undefined {
  if (typeof value !== 'string') return refuse(report, 'request.type', 'the name of an operation', value);
  const operation = findOperation(value);
  if (operation !== undefined) return operation;
  return refuse(report, 'request.unknown', 'the name of an operation', value, suggestOperation(value));
}

function readReferences(value: unknown, report: Report): SeriesReference[] | undefined {
  if (!Array.isArray(value)) {
    return refuse(report, 'request.type', 'an array of series references {timeseriesId, metric}', value);
  }
  const references = Array.from(value, (item, index) => readReference(item, within(report, `/${index}`)));
  const sound = references.filter((reference) => reference !== undefined);
  return sound.length === references.length ? sound : undefined;
}

function readReference(value: unknown, report: Report): SeriesReference | undefined {
  if (!isObjectOf(value, ['timeseriesId', 'metric'], report)) return undefined;
  const timeseriesId = readText(value.timeseriesId, 'the id of a series', within(report, '/timeseriesId'));
  const metric = readText(value.metric, 'a metric, like "Raw"', within(report, '/metric'));
  return timeseriesId === undefined || metric === undefined ? undefined : { timeseriesId, metric };
}

function readStepParameters(
  value: unknown,
  operation: Operation,
  timezone: string,
  report: Report,
  inputCount: number | undefined,
): Parameters | undefined {
  const context = { timezone };
  const isOne = hasOneOf(value, operation, report, context);
  const parameters = readParameters(value === undefined ? {} : value, operation.parameters, report, context);
  if (parameters === undefined || !isOne) return undefined;
  if (operation.parameters.timezone !== undefined) parameters.timezone ??= timezone;
  // If the inputs cannot be read, assume one.
  operation.check?.(parameters, report, inputCount ?? 1);
  return parameters;
}

/** Whether exactly one of the parameters in `either` is given; reports it otherwise. */
function hasOneOf(value: unknown, { either, parameters }: Operation, report: Report, context: ReadContext): boolean {
  if (either === undefined) return true;
  const [first = '', ...others] = either;
  const given = either.filter((name) => Object(value)[name] !== undefined);
  if (given.length === 0) {
    const parameter = parameters[first];
    const hint = `or give ${others.join(' or ')} instead`;
    if (parameter !== undefined) reportMissing(parameter, within(report, `/${first}`), context, hint);
  } else if (given.length > 1) {
    const hint = `leave ${given.slice(1).join(' and ')} out`;
    report(`/${given[1]}`, 'request.conflict', `one of ${either.join(', ')}`, given.join(' and '), hint);
  }
  return given.length === 1;
}

const INPUT_COUNTS = {
  one: [1, 1],
  two: [2, 2],
  'one or two': [1, 2],
  'two or three': [2, 3],
  'two or more': [2, Number.POSITIVE_INFINITY],
} as const;

function checkInputs(operation: Operation, parameters: unknown, count: number, report: Report): void {
  const given = new Map(Object.entries(parameters ?? {}));
  const hasScalar = given.get('scalar') !== undefined;
  const { inputs = 'one' } = operation;
  if (inputs === 'one and a scalar, or two' || inputs === 'one and a scalar, or more') {
    const several = inputs.endsWith('more') ? 'two or more' : 'two';
    if (hasScalar === (count === 1) && count > 0 && (count <= 2 || inputs.endsWith('more'))) {
      if (hasScalar && ['align', 'maxhold', 'maxgap'].some((name) => given.get(name) !== undefined)) {
        report('/parameters', 'request.conflict', `align, maxhold and maxgap only with ${several} inputs`, 'a scalar');
      }
      return;
    }
    const lack = count < 2 ? 'add a scalar or a second input' : 'take several steps';
    const hint = hasScalar ? 'leave the scalar or the second input out' : lack;
    const received = `${count} with ${hasScalar ? 'a' : 'no'} scalar`;
    report('/input', 'request.inputs', `one input and a scalar, or ${several} inputs and no scalar`, received, hint);
    return;
  }
  const [least, most] = INPUT_COUNTS[inputs];
  if (count >= least && count <= most) return;
  const expected = most === 1 ? 'one input' : `${inputs} inputs`;
  report('/input', 'request.inputs', expected, String(count));
}
