import type { SeriesReference } from '../core/series.js';
import { type OperationMethods, operationsByName } from '../operations/index.js';
import type { StepDraft } from '../operations/operation.js';
import type { Frequency, RequestItem, RequestStep } from './request.js';

/** A method for each operation, which adds a step. The file of each operation declares its own. */
export type StepMethods = {
  [Name in keyof OperationMethods]: OperationMethods[Name] extends (...given: infer Given) => StepDraft
    ? (...given: Given) => Pipeline
    : never;
};

export interface Pipeline extends StepMethods {
  /** Makes the item that publishes the result under a metric. A request is an array of items. */
  as(metric: string, run?: ItemOptions): RequestItem;
}

interface ItemOptions {
  readonly processingType?: 'stream' | 'batch';
  readonly frequency?: Frequency;
}

/**
 * Writes a request item step by step, where each step reads the one before. A further input of a step is a series by
 * name or another pipeline, whose steps become part of the item.
 *
 * @example
 * const celsius = pipeline('office').sub(32).mul(5 / 9).round(1).as('Celsius');
 * const excess = pipeline('office').sub(pipeline('outside').round(1)).as('Excess');
 * const plan = createPlan([celsius, excess]);
 */
export function pipeline(timeseriesId: string, metric = 'Raw'): Pipeline {
  return builder({ timeseriesId, metric }, []);
}

interface Step extends StepDraft {
  readonly operation: string;
}

/** A pipeline as it has been written so far. */
interface Written {
  readonly source: SeriesReference;
  readonly steps: readonly Step[];
}

const written = new WeakMap<object, Written>();

function builder(source: SeriesReference, steps: readonly Step[]): Pipeline {
  const methods: Record<string, unknown> = {
    as: (metric: string, options: ItemOptions = {}) => writeItem({ source, steps }, metric, options),
  };
  for (const [operation, { methods: drafts }] of operationsByName) {
    for (const [name, draft] of Object.entries<(...given: unknown[]) => StepDraft>({ ...drafts })) {
      methods[name] = (...given: unknown[]) => builder(source, [...steps, { operation, ...draft(...given) }]);
    }
  }
  written.set(methods, { source, steps });
  // `as`: these are the operations' methods, each of which returns a builder with one more step.
  return methods as unknown as Pipeline;
}

function writeItem(made: Written, metric: string, { processingType = 'batch', frequency }: ItemOptions): RequestItem {
  const operations: RequestStep[] = [];
  write(made, metric, operations);
  return { metric, processingType, ...(frequency === undefined ? {} : { frequency }), operations };
}

/** Writes steps, after the steps that make their further inputs. @returns the series of the last step. */
function write({ source, steps }: Written, metric: string, into: RequestStep[]): SeriesReference {
  let first = source;
  for (const [index, { operation, parameters, others = [] }] of steps.entries()) {
    const name = index === steps.length - 1 ? metric : `${metric} step ${index + 1}`;
    const inputs = others.map((other, at) => {
      const made = written.get(other);
      return made === undefined ? other : write(made, `${name} input ${at + 2}`, into);
    });
    const output = { timeseriesId: source.timeseriesId, metric: name };
    // `as`: the types of the builder's methods ensure that the parameters fit the operation.
    into.push({ operation, input: [first, ...inputs], output: [output], parameters } as RequestStep);
    first = output;
  }
  return first;
}
