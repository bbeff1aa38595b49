import type { SeriesReference } from '../core/series.js';
import type { AnyOperation } from '../operations/index.js';
import type { NoParameters, StepDraft } from '../operations/operation.js';
import type { Pipeline } from './pipeline.js';

// The types of a request, whether it is written by hand or by `pipeline`.

/** The name of an operation as the interface spells it. */
export type OperationName = AnyOperation['name'];

/** A step of an item. `output` has exactly one reference, `input` as many as the operation takes. */
export type RequestStep = StepOf<AnyOperation>;

// What the methods of an operation write.
type StepOf<O extends AnyOperation> = O extends { readonly name: infer Name; readonly methods: infer Methods }
  ? {
      [Method in keyof Methods]: Methods[Method] extends (...given: never) => StepDraft<infer P>
        ? Step<Name, P>
        : never;
    }[keyof Methods]
  : never;

type Step<Name, P> = {
  readonly operation: Name;
  readonly input: readonly SeriesReference[];
  readonly output: readonly SeriesReference[];
} & (object extends P
  ? { readonly parameters?: P }
  : P extends NoParameters
    ? { readonly parameters?: P }
    : { readonly parameters: P });

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
export type RequestLike<R> = unknown extends Expected<R> ? R : Expected<R>;

type Expected<R> = unknown extends R
  ? unknown
  : R extends { readonly items: infer Items }
    ? unknown extends ListLike<Items>
      ? unknown
      : RequestFile
    : ListLike<R>;
