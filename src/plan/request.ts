import type { SeriesReference } from '../core/series.js';
import type { AnyOperation } from '../operations/index.js';
import type { NoParameters, StepDraft } from '../operations/operation.js';

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
