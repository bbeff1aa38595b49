import fc from 'fast-check';
import type { Columns, SampleRange } from '../../../src/storage/samples/samples.js';
import { type Change, changeArbitrary } from './model.js';

export const METRICS = ['a', 'b', 'c'];
/** The series that is the result of an item. */
export const RESULT = 'c';
const TIME_END = 60;

/** What one transaction does. */
export type Act =
  | { readonly kind: 'append'; readonly changes: readonly (readonly [metric: string, change: Change])[] }
  | { readonly kind: 'compact'; readonly isEager: boolean; readonly backBy: number; readonly calls: number }
  /** Stores what one of the processes prepared before; much may have happened since. */
  | { readonly kind: 'store'; readonly preparedBy: number }
  | { readonly kind: 'provisional'; readonly columns: Columns }
  | { readonly kind: 'release' }
  | { readonly kind: 'drop'; readonly metric: string };

export type Step =
  | {
      readonly kind: 'group';
      readonly works: readonly { readonly act: Act; readonly isUndone: boolean }[];
      readonly isDiskFailing: boolean;
      /** Which of two processes does it. */
      readonly process: number;
    }
  /** One of the processes reads some rows of the log into memory. */
  | { readonly kind: 'advance'; readonly process: number; readonly rowCountMax: number }
  | { readonly kind: 'prepare'; readonly process: number; readonly isEager: boolean; readonly backBy: number }
  | { readonly kind: 'reopen' };

const metric = fc.constantFrom(...METRICS);

const actArbitrary: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 10,
    arbitrary: fc
      .array(fc.tuple(metric, changeArbitrary(TIME_END)), { minLength: 1, maxLength: 4 })
      .map((changes): Act => ({ kind: 'append', changes })),
  },
  {
    weight: 6,
    arbitrary: fc
      .record({ isEager: fc.boolean(), backBy: fc.integer({ min: 0, max: 3 }), calls: fc.integer({ min: 1, max: 6 }) })
      .map((how): Act => ({ kind: 'compact', ...how })),
  },
  { weight: 4, arbitrary: fc.integer({ min: 0, max: 1 }).map((preparedBy): Act => ({ kind: 'store', preparedBy })) },
  {
    weight: 2,
    arbitrary: changeArbitrary(TIME_END).map(
      ({ timeMs, value }): Act => ({ kind: 'provisional', columns: { timeMs, value } }),
    ),
  },
  { weight: 1, arbitrary: fc.constant<Act>({ kind: 'release' }) },
  { weight: 1, arbitrary: metric.map((of): Act => ({ kind: 'drop', metric: of })) },
);

const rarely = (frequency: number) => fc.integer({ min: 1, max: frequency }).map((number) => number === frequency);

export const stepArbitrary: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc
      .record({
        works: fc.array(fc.record({ act: actArbitrary, isUndone: rarely(6) }), { minLength: 1, maxLength: 3 }),
        isDiskFailing: rarely(8),
        process: fc.integer({ min: 0, max: 1 }),
      })
      .map((group): Step => ({ kind: 'group', ...group })),
  },
  {
    weight: 2,
    arbitrary: fc
      .record({ process: fc.integer({ min: 0, max: 1 }), rowCountMax: fc.integer({ min: 1, max: 4 }) })
      .map((how): Step => ({ kind: 'advance', ...how })),
  },
  {
    weight: 4,
    arbitrary: fc
      .record({
        process: fc.integer({ min: 0, max: 1 }),
        isEager: fc.boolean(),
        backBy: fc.integer({ min: 0, max: 3 }),
      })
      .map((how): Step => ({ kind: 'prepare', ...how })),
  },
  { weight: 1, arbitrary: fc.constant<Step>({ kind: 'reopen' }) },
);

const bound = fc.option(fc.integer({ min: -2, max: TIME_END + 2 }), { nil: undefined });

export const rangeArbitrary: fc.Arbitrary<SampleRange> = fc
  .record({
    fromMs: bound,
    untilMs: bound,
    limit: fc.option(fc.integer({ min: 0, max: 20 }), { nil: undefined }),
    isDescending: fc.boolean(),
    isFinalOnly: fc.boolean(),
  })
  // `as`: JSON drops the fields that are undefined.
  .map((range) => JSON.parse(JSON.stringify(range)) as SampleRange);
