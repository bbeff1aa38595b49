import type { Duration } from '../core/duration.js';
import type { SeriesReference } from '../core/series.js';
import type { OperationMethods } from '../operations/index.js';
import type { StepDraft } from '../operations/operation.js';
import type { Pipeline } from './pipeline.js';

// The types of a request, whether it is written by hand or by `pipeline`.

/** Methods of the builder whose names differ from that of their operation. */
interface MethodNames {
  readonly aggregatePipeline: 'Aggregate Pipeline' | 'AggregatePipeline';
  readonly clamp: 'Cleanse';
  readonly anomalies: 'Cleanse';
  readonly fillFrom: 'Fill';
  readonly limit: 'Clamp';
}

type Method = keyof OperationMethods & string;
type NameOf<M extends Method> = M extends keyof MethodNames ? MethodNames[M] : Capitalize<M>;

/** The name of an operation as the interface spells it. */
export type OperationName = NameOf<Method>;

/** Parameters of a step that a method takes as arguments of their own. */
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

// The parameters of a step: usually the object that the method takes.
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

/** A step of an item. `output` has exactly one reference, `input` as many as the operation takes. */
export type RequestStep = {
  [M in Method]: {
    readonly operation: NameOf<M>;
    readonly input: readonly SeriesReference[];
    readonly output: readonly SeriesReference[];
  } & (object extends ParametersOf<M>
    ? { readonly parameters?: ParametersOf<M> }
    : { readonly parameters: ParametersOf<M> });
}[Method];

/** How often a batch runs: at the multiples of this duration in UTC. */
export type Frequency = 'PT15M' | 'PT1H' | 'PT24H';

/** An item of a request, as POST /operations takes it (section 2.5 of the interface). */
export interface RequestItem {
  readonly metric: string;
  readonly processingType: 'stream' | 'batch' | 'Stream' | 'Batch';
  readonly frequency?: Frequency;
  readonly operations: readonly RequestStep[];
}

/** A request file: the items, and the schema for editors. */
export interface RequestFile {
  readonly $schema?: string;
  readonly items: readonly RequestItem[];
}

// A step or an item that the compiler knows to be wrong. Where it knows only that a name is a string, as in imported
// JSON, or that a record has some fields, `createPlan` checks them.
type BadStep<S> = S extends { readonly operation: infer Name }
  ? string extends Name
    ? never
    : S extends RequestStep
      ? never
      : IsOneOfSome<Name> extends true
        ? Exclude<Name, OperationName>
        : S
  : never;

// Whether the name is a union: then it is not known which parameters belong to it.
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

/** What TypeScript can check of a request. A request of unknown type is accepted. */
export type RequestLike<R> = unknown extends R
  ? unknown
  : R extends { readonly items: infer Items }
    ? { readonly items: ListLike<Items> }
    : ListLike<R>;
