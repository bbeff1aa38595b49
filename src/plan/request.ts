import type { Duration } from '../core/duration.js';
import type { SeriesReference } from '../core/series.js';
import type { OperationMethods } from '../operations/index.js';
import type { StepDraft } from '../operations/operation.js';
import type { Pipeline } from './pipeline.js';

// A request as TypeScript sees it: written by hand and by `pipeline` it has one type.

/** Methods of the builder that are called otherwise than the operation that they write. */
interface MethodNames {
  readonly aggregatePipeline: 'Aggregate Pipeline' | 'AggregatePipeline';
  readonly clamp: 'Cleanse';
  readonly anomalies: 'Cleanse';
  readonly fillFrom: 'Fill';
  readonly limit: 'Clamp';
}

type Method = keyof OperationMethods & string;
type NameOf<M extends Method> = M extends keyof MethodNames ? MethodNames[M] : Capitalize<M>;

/** The name of an operation as it is spelled in the interface. */
export type OperationName = NameOf<Method>;

/** What methods take apart from an object, as parameters of the step. */
interface GivenApart {
  readonly movingAverage: { readonly window: Duration };
  readonly exponentialAverage: { readonly halflife: Duration };
  readonly stuckValue: { readonly duration: Duration };
  readonly gaps: { readonly gap: Duration };
  readonly round: { readonly roundtodigits: number };
  readonly deadband: { readonly tolerance: number };
  readonly swingingDoor: { readonly tolerance: number };
  readonly clamp: { readonly function: string; readonly lowerbound: number; readonly upperbound: number };
  readonly anomalies: GivenApart['clamp'];
  readonly edge: { readonly direction?: Parameters<OperationMethods['edge']>[0] };
  readonly log: { readonly base?: number };
}

// What a method takes as one object are the parameters of the step.
type ParametersOf<M extends Method> = M extends 'aggregate'
  ? Parameters<OperationMethods[M]>[0]
  : M extends 'aggregatePipeline'
    ? { readonly pipeline: Parameters<OperationMethods[M]>[0] } & SecondOf<M>
    : M extends 'select'
      ? Omit<SecondOf<M>, 'else'> & { readonly else?: number }
      : M extends keyof GivenApart
        ? GivenApart[M] & SecondOf<M>
        : OperationMethods[M] extends (parameters: infer P extends object) => StepDraft
          ? P & { readonly function?: string }
          : SecondOf<M> & { readonly scalar?: number };

type SecondOf<M extends Method> =
  Parameters<OperationMethods[M]> extends [unknown, (infer P extends object)?] ? P : object;

/** A step of an item: one reference in `output`, one or two in `input`. */
export type RequestStep = {
  [M in Method]: {
    readonly operation: NameOf<M>;
    readonly input: readonly SeriesReference[];
    readonly output: readonly SeriesReference[];
  } & (object extends ParametersOf<M>
    ? { readonly parameters?: ParametersOf<M> }
    : { readonly parameters: ParametersOf<M> });
}[Method];

/** How often a batch runs, at its multiples in UTC. */
export type Frequency = 'PT15M' | 'PT1H' | 'PT24H';

/** An item of a request, as POST /operations takes it (section 2.5 of the interface). */
export interface RequestItem {
  readonly metric: string;
  readonly processingType: 'stream' | 'batch' | 'Stream' | 'Batch';
  readonly frequency?: Frequency;
  readonly operations: readonly RequestStep[];
}

/** A request file: the items, and where editors find the schema. */
export interface RequestFile {
  readonly $schema?: string;
  readonly items: readonly RequestItem[];
}

// What of a step, of an item, the compiler knows to be wrong. Names that it knows only as texts, as in imported JSON,
// and records of unknown fields are checked when the plan is made.
type BadStep<S> = S extends { readonly operation: infer Name }
  ? string extends Name
    ? never
    : S extends RequestStep
      ? never
      : IsOneOfSome<Name> extends true
        ? Exclude<Name, OperationName>
        : S
  : never;

// Which parameters belong to which of several names is not known.
type IsOneOfSome<Name, All = Name> = Name extends All ? ([All] extends [Name] ? false : true) : never;

type BadItem<I> = I extends { readonly processingType: infer Type; readonly operations: readonly (infer Step)[] }
  ? string extends Type
    ? never
    : I extends Omit<RequestItem, 'operations'>
      ? BadStep<Step>
      : I
  : I extends Pipeline | string | number | boolean | null
    ? I
    : never;

type ListLike<Items> = Items extends readonly (infer Item)[]
  ? [BadItem<Item>] extends [never]
    ? unknown
    : readonly RequestItem[]
  : readonly RequestItem[];

/** What a request has to be as far as TypeScript knows it; of an unknown type it may be anything. */
export type RequestLike<R> = unknown extends R
  ? unknown
  : R extends { readonly items: infer Items }
    ? { readonly items: ListLike<Items> }
    : ListLike<R>;
