import { abs } from './abs.js';
import { aggregate } from './aggregate.js';
import { aggregatePipeline } from './aggregate-pipeline.js';
import { add, div, mul, sub } from './arithmetic.js';
import { cleanse } from './cleanse.js';
import { eq, gt, gte, lt, lte, ne } from './comparison.js';
import { extensions } from './extensions/index.js';
import { holdLastValue } from './hold-last-value.js';
import { and, not, or } from './logic.js';
import { mask, where } from './mask.js';
import type { Operation } from './operation.js';
import { resample } from './resample.js';
import { round } from './round.js';
import { shift } from './shift.js';

/** Every operation: those of the interface in its order, then the extensions. */
const all = [
  aggregate,
  aggregatePipeline,
  add,
  sub,
  mul,
  div,
  eq,
  ne,
  lte,
  lt,
  gt,
  gte,
  not,
  and,
  or,
  mask,
  where,
  round,
  abs,
  cleanse,
  shift,
  holdLastValue,
  resample,
  ...extensions,
] as const satisfies readonly Operation[];

/** The methods of all operations: those of `pipeline(…)`. */
export type OperationMethods = MethodsOf<(typeof all)[number]>;

// Of a union of operations, the methods of all of them together.
type MethodsOf<O extends Operation> = (O extends Operation<infer M> ? (methods: M) => void : never) extends (
  methods: infer All,
) => void
  ? All
  : never;

/** Every operation by its name. */
export const operationsByName: ReadonlyMap<string, Operation> = new Map(
  all.map((operation: Operation) => [operation.name, operation]),
);

/** Whether the interface does not have it. */
export function isExtension(operation: Operation): boolean {
  return extensions.some((extension: Operation) => extension === operation);
}

/** Every name and alias, for suggestions. */
export const operationNames: readonly string[] = all.flatMap(({ name, aliases = [] }: Operation) => [name, ...aliases]);

/** The operation of a name or alias, in any case. */
export function findOperation(name: string): Operation | undefined {
  const wanted = name.toLowerCase();
  return all.find((operation: Operation) =>
    [operation.name, ...(operation.aliases ?? [])].some((known) => known.toLowerCase() === wanted),
  );
}
