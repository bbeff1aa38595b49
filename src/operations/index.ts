import { meantName } from '../core/suggest.js';
import * as abs from './abs.js';
import { aggregate } from './aggregate/aggregate.js';
import { otherFunctionNames } from './aggregate/functions.js';
import { aggregateFunctionNames, aggregatePipelineRules, aggregateRules } from './aggregate/parameters.js';
import * as aggregatePipeline from './aggregate/pipeline.js';
import { aggregateTexts, describeAggregate } from './aggregate/texts.js';
import * as arithmetic from './arithmetic.js';
import * as cleanse from './cleanse.js';
import * as comparison from './comparison.js';
import { extensionDescriptions, extensionRules, extensions, extensionTexts } from './extensions/index.js';
import * as holdLastValue from './hold-last-value.js';
import * as logic from './logic.js';
import * as mask from './mask.js';
import type { Describe, Description, Operation, OperationTexts } from './operation.js';
import type { JsonSchema, Parameters } from './parameters.js';
import * as resample from './resample.js';
import * as round from './round.js';
import type { OperationRules } from './rules.js';
import * as shift from './shift.js';

/** Every operation: those of the interface in its order, then the extensions. Add a new one here. */
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

/**
 * The texts of every operation by its name, in the order of the list above. They are not fields of the operations,
 * because every application needs those: bundlers drop a constant that nobody reads, but never a property or a spread.
 */
export const textsByName: Readonly<Record<string, OperationTexts>> = /* @__PURE__ */ Object.assign(
  {
    Aggregate: aggregateTexts,
    'Aggregate Pipeline': aggregatePipeline.aggregatePipelineTexts,
    Add: arithmetic.addTexts,
    Sub: arithmetic.subTexts,
    Mul: arithmetic.mulTexts,
    Div: arithmetic.divTexts,
    Eq: comparison.eqTexts,
    Ne: comparison.neTexts,
    Lte: comparison.lteTexts,
    Lt: comparison.ltTexts,
    Gt: comparison.gtTexts,
    Gte: comparison.gteTexts,
    Not: logic.notTexts,
    And: logic.andTexts,
    Or: logic.orTexts,
    Mask: mask.maskTexts,
    Where: mask.whereTexts,
    Round: round.roundTexts,
    Abs: abs.absTexts,
    Cleanse: cleanse.cleanseTexts,
    Shift: shift.shiftTexts,
    HoldLastValue: holdLastValue.holdLastValueTexts,
    Resample: resample.resampleTexts,
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
    'Aggregate Pipeline': aggregatePipeline.describeAggregatePipeline,
    Add: arithmetic.describeAdd,
    Sub: arithmetic.describeSub,
    Mul: arithmetic.describeMul,
    Div: arithmetic.describeDiv,
    Eq: comparison.describeEq,
    Ne: comparison.describeNe,
    Lte: comparison.describeLte,
    Lt: comparison.describeLt,
    Gt: comparison.describeGt,
    Gte: comparison.describeGte,
    Not: logic.describeNot,
    And: logic.describeAnd,
    Or: logic.describeOr,
    Mask: mask.describeMask,
    Where: mask.describeWhere,
    Round: round.describeRound,
    Abs: abs.describeAbs,
    Cleanse: cleanse.describeCleanse,
    Shift: shift.describeShift,
    HoldLastValue: holdLastValue.describeHoldLastValue,
    Resample: resample.describeResample,
  },
  extensionDescriptions,
);

/** The rules of the operations that have some, likewise. */
export const rulesByName: Readonly<Record<string, () => OperationRules>> = /* @__PURE__ */ Object.assign(
  {
    Aggregate: aggregateRules,
    'Aggregate Pipeline': aggregatePipelineRules,
    Mask: mask.rangeRules,
    Where: mask.rangeRules,
    Shift: shift.shiftRules,
  },
  extensionRules,
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
