import { abs, absTexts, describeAbs } from './abs.js';
import { aggregate } from './aggregate.js';
import { aggregatePipeline, aggregatePipelineTexts, describeAggregatePipeline } from './aggregate-pipeline.js';
import { aggregateTexts, describeAggregate } from './aggregate-texts.js';
import {
  add,
  addTexts,
  describeAdd,
  describeDiv,
  describeMul,
  describeSub,
  div,
  divTexts,
  mul,
  mulTexts,
  sub,
  subTexts,
} from './arithmetic.js';
import { cleanse, cleanseTexts, describeCleanse } from './cleanse.js';
import {
  describeEq,
  describeGt,
  describeGte,
  describeLt,
  describeLte,
  describeNe,
  eq,
  eqTexts,
  gt,
  gte,
  gteTexts,
  gtTexts,
  lt,
  lte,
  lteTexts,
  ltTexts,
  ne,
  neTexts,
} from './comparison.js';
import { extensionDescriptions, extensions, extensionTexts } from './extensions/index.js';
import { describeHoldLastValue, holdLastValue, holdLastValueTexts } from './hold-last-value.js';
import { and, andTexts, describeAnd, describeNot, describeOr, not, notTexts, or, orTexts } from './logic.js';
import { describeMask, describeWhere, mask, maskTexts, where, whereTexts } from './mask.js';
import type { Describe, Description, Operation, OperationTexts } from './operation.js';
import type { JsonSchema, Parameters } from './parameters.js';
import { describeResample, resample, resampleTexts } from './resample.js';
import { describeRound, round, roundTexts } from './round.js';
import { describeShift, shift, shiftTexts } from './shift.js';

/** Every operation: those of the interface in its order, then the extensions. Add a new one here. */
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

/**
 * The texts of every operation by its name, in the order of the list above. They are not fields of the operations,
 * because every application needs those: bundlers drop a constant that nobody reads, but never a property or a spread.
 */
export const textsByName: Readonly<Record<string, OperationTexts>> = /* @__PURE__ */ Object.assign(
  {
    Aggregate: aggregateTexts,
    'Aggregate Pipeline': aggregatePipelineTexts,
    Add: addTexts,
    Sub: subTexts,
    Mul: mulTexts,
    Div: divTexts,
    Eq: eqTexts,
    Ne: neTexts,
    Lte: lteTexts,
    Lt: ltTexts,
    Gt: gtTexts,
    Gte: gteTexts,
    Not: notTexts,
    And: andTexts,
    Or: orTexts,
    Mask: maskTexts,
    Where: whereTexts,
    Round: roundTexts,
    Abs: absTexts,
    Cleanse: cleanseTexts,
    Shift: shiftTexts,
    HoldLastValue: holdLastValueTexts,
    Resample: resampleTexts,
  },
  extensionTexts,
);

/** The texts of an operation. */
export function textsOf(operation: string): OperationTexts {
  return textsByName[operation] ?? missing(operation, 'texts');
}

function missing(operation: string, what: string): never {
  throw new Error(`assertion failed: ${operation} has no ${what}; add them to the lists in operations/index.ts`);
}

/** What `explain` says of every operation, apart from it for the same reason. */
const descriptionsByName: Readonly<Record<string, Describe>> = /* @__PURE__ */ Object.assign(
  {
    Aggregate: describeAggregate,
    'Aggregate Pipeline': describeAggregatePipeline,
    Add: describeAdd,
    Sub: describeSub,
    Mul: describeMul,
    Div: describeDiv,
    Eq: describeEq,
    Ne: describeNe,
    Lte: describeLte,
    Lt: describeLt,
    Gt: describeGt,
    Gte: describeGte,
    Not: describeNot,
    And: describeAnd,
    Or: describeOr,
    Mask: describeMask,
    Where: describeWhere,
    Round: describeRound,
    Abs: describeAbs,
    Cleanse: describeCleanse,
    Shift: describeShift,
    HoldLastValue: describeHoldLastValue,
    Resample: describeResample,
  },
  extensionDescriptions,
);

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

/** Whether the operation extends the interface. */
export function isExtension(operation: Operation): boolean {
  return extensions.some((extension: Operation) => extension === operation);
}

/** Every name and alias, for suggestions. */
export const operationNames: readonly string[] = all.flatMap(({ name, aliases = [] }: Operation) => [name, ...aliases]);

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

/** The JSON Schemas of an operation's parameters, with their descriptions. */
export function parameterSchemas({ name, parameters }: Operation): Readonly<Record<string, JsonSchema>> {
  const { parameters: texts, schemas = {} } = textsOf(name);
  const described = Object.entries(parameters).map(([parameter, { schema }]) => {
    return [parameter, { description: texts[parameter], ...(schemas[parameter] ?? schema) }];
  });
  return Object.fromEntries(described);
}

/** What `explain` says of a step. */
export function describeStep(operation: string, parameters: Parameters): Description {
  return (descriptionsByName[operation] ?? missing(operation, 'description'))(parameters);
}
