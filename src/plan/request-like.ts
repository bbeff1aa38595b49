import type { Pipeline } from './pipeline.js';
import type { OperationName, RequestFile, RequestItem, RequestStep } from './request.js';

/** What TypeScript can check of a request. A request of unknown type is accepted. */
export type RequestLike<R> = unknown extends Expected<R> ? R : Expected<R>;

type Expected<R> = unknown extends R
  ? unknown
  : R extends { readonly items: infer Items }
    ? unknown extends ListLike<Items>
      ? unknown
      : RequestFile
    : ListLike<R>;

type ListLike<Items> = Items extends readonly (infer Item)[]
  ? [BadItem<Item>] extends [never]
    ? unknown
    : readonly RequestItem[]
  : readonly RequestItem[];

// An item or a step that the compiler knows to be wrong. Where it knows only that a name is a string, as in imported
// JSON, or that a record has some fields, `createPlan` checks them.
type BadItem<I> = I extends { readonly processingType: infer Type; readonly operations: readonly (infer Step)[] }
  ? string extends Type
    ? never
    : I extends Omit<RequestItem, 'operations'>
      ? BadStep<Step>
      : I
  : I extends Pipeline | string | number | boolean | null
    ? I
    : never;

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
