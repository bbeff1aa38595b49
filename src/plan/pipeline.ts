import type { SeriesReference } from '../core/series.js';
import { type OperationMethods, operationsByName } from '../operations/index.js';
import type { StepDraft } from '../operations/operation.js';
import type { Frequency, RequestItem, RequestStep } from './request.js';

/** A method for each operation, which adds a step. Each operation's file declares its own. */
export type StepMethods = {
  [Name in keyof OperationMethods]: OperationMethods[Name] extends (...given: infer Given) => StepDraft
    ? (...given: Given) => Pipeline
    : never;
};

export interface Pipeline extends StepMethods {
  /** The item that gives the result under a metric. An array of items is a request. */
  as(metric: string, run?: ItemOptions): RequestItem;
}

interface ItemOptions {
  readonly processingType?: 'stream' | 'batch';
  readonly frequency?: Frequency;
}

/**
 * Writes a request item step by step, each step reading the one before.
 *
 * @example
 * const celsius = pipeline('office').sub(32).mul(5 / 9).round(1).as('Celsius');
 * const plan = createPlan([celsius]);
 */
export function pipeline(timeseriesId: string, metric = 'Raw'): Pipeline {
  return builder({ timeseriesId, metric }, []);
}

interface Step extends StepDraft {
  readonly operation: string;
}

function builder(source: SeriesReference, steps: readonly Step[]): Pipeline {
  const methods: Record<string, unknown> = {
    as: (metric: string, options: ItemOptions = {}) => writeItem(source, steps, metric, options),
  };
  for (const [operation, { methods: drafts }] of operationsByName) {
    for (const [name, draft] of Object.entries<(...given: unknown[]) => StepDraft>({ ...drafts })) {
      methods[name] = (...given: unknown[]) => builder(source, [...steps, { operation, ...draft(...given) }]);
    }
  }
  // `as`: the operations' methods, each of which gives a builder with one more step.
  return methods as unknown as Pipeline;
}

function writeItem(
  source: SeriesReference,
  steps: readonly Step[],
  metric: string,
  { processingType = 'batch', frequency }: ItemOptions,
): RequestItem {
  const { timeseriesId } = source;
  const nameOf = (index: number): string => (index === steps.length - 1 ? metric : `${metric} step ${index + 1}`);
  const operations = steps.map(({ operation, parameters, others = [] }, index) => {
    const first = index === 0 ? source : { timeseriesId, metric: nameOf(index - 1) };
    const input = [first, ...others];
    const step = { operation, input, output: [{ timeseriesId, metric: nameOf(index) }], parameters };
    // The methods of the builder take what the types of a step say.
    return step as RequestStep;
  });
  return { metric, processingType, ...(frequency === undefined ? {} : { frequency }), operations };
}
