import { meantName } from '../core/suggest.js';
import * as abs from './abs.js';
import { aggregate } from './aggregate/aggregate.js';
import { otherFunctionNames } from './aggregate/functions.js';
import { aggregateFunctionNames } from './aggregate/parameters.js';
import * as aggregatePipeline from './aggregate/pipeline.js';
import * as arithmetic from './arithmetic.js';
import * as cleanse from './cleanse.js';
import * as comparison from './comparison.js';
import { extensions } from './extensions/index.js';
import * as holdLastValue from './hold-last-value.js';
import * as logic from './logic.js';
import * as mask from './mask.js';
import type { Operation } from './operation.js';
import * as resample from './resample.js';
import * as round from './round.js';
import * as shift from './shift.js';

/**
 * Every operation: those of the interface in its order, then the extensions. Add a new one here, and what is said of it
 * in texts/index.ts.
 */
const all = [
  aggregate,
  aggregatePipeline.aggregatePipeline,
  arithmetic.add,
  arithmetic.sub,
  arithmetic.mul,
  arithmetic.div,
  comparison.eq,
  comparison.ne,
  comparison.lte,
  comparison.lt,
  comparison.gt,
  comparison.gte,
  logic.not,
  logic.and,
  logic.or,
  mask.mask,
  mask.where,
  round.round,
  abs.abs,
  cleanse.cleanse,
  shift.shift,
  holdLastValue.holdLastValue,
  resample.resample,
  ...extensions,
] as const satisfies readonly Operation[];

/** Each operation by its type, with its name and its methods. */
export type AnyOperation = (typeof all)[number];

/** The methods of all operations: those of `pipeline(…)`. */
export type OperationMethods = MethodsOf<AnyOperation>;

// The methods of all operations of a union, as one type.
type MethodsOf<O extends { readonly methods: object }> = (
  O extends { readonly methods: infer M }
    ? (methods: M) => void
    : never
) extends (methods: infer All) => void
  ? All
  : never;

/** Every operation by its name. */
export const operationsByName: ReadonlyMap<string, Operation> = new Map(
  all.map((operation: Operation) => [operation.name, operation]),
);

/** The operation of a plan's step. */
export function operationOf(step: { readonly operation: string }): Operation {
  const found = operationsByName.get(step.operation);
  if (found === undefined) throw new Error(`assertion failed: no operation ${step.operation}`);
  return found;
}

/** Whether the operation extends the interface. */
export function isExtension(operation: Operation): boolean {
  return extensions.some((extension: Operation) => extension === operation);
}

/** Every name and alias. */
export const operationNames: readonly string[] = all.flatMap(({ name, aliases = [] }: Operation) => [name, ...aliases]);

/** What was meant by a text that names no operation, as a question; a function of Aggregate is suggested as such. */
export function suggestOperation(text: string): string {
  const otherNames = all.flatMap(({ name, otherNames = [] }: Operation) => otherNames.map((other) => [other, name]));
  const meant = meantName(text, [...operationNames, ...aggregateFunctionNames], {
    ...otherFunctionNames,
    ...Object.fromEntries(otherNames),
  });
  if (meant === undefined) return `there are ${operationNames.join(', ')}`;
  return `did you mean ${operationNames.includes(meant) ? '' : 'Aggregate with the function '}\`${meant}\`?`;
}

/** The operation of a name or alias, in any case. */
export function findOperation(name: string): Operation | undefined {
  byLowerCase ??= new Map(
    all.flatMap((operation: Operation) =>
      [operation.name, ...(operation.aliases ?? [])].map((known) => [known.toLowerCase(), operation] as const),
    ),
  );
  return byLowerCase.get(name.toLowerCase());
}

// Made with the first request, not with the import.
let byLowerCase: ReadonlyMap<string, Operation> | undefined;
