/**
 * Large columns of results, written over once nobody can see them any more. Memory that a process has used before
 * costs nothing; a fresh page of it costs a fault, and all of them together more than the work of most plans.
 *
 * What is handed out is a view of a column that stays here, watched through a weak reference: when the view has been
 * collected, its column is free. That holds as long as the view is the only way to the column, and a view has two
 * doors to what lies behind it, `buffer` and `subarray`. Each view has its own of both, which take the column out
 * of here before they open: from then on it is an ordinary array, and the view an ordinary view.
 */
interface Loan {
  readonly column: Float64Array;
  readonly view: WeakRef<Float64Array>;
  /** The view has been collected, and nobody has taken the column since. */
  isFree: boolean;
}

/** Smaller columns come from memory that the process holds anyway. */
const LENGTH_MIN = 131_072;
/** What is kept for later runs is bounded, the newest first. */
const KEPT_LENGTH_MAX = 2 ** 26;

const loans = new Set<Loan>();

// A free column that the next collection still finds free is given back to the system.
const collected = new FinalizationRegistry<Loan>((loan) => {
  if (!loans.has(loan)) return;
  if (loan.isFree) loans.delete(loan);
  else {
    loan.isFree = true;
    collected.register({}, loan);
  }
});

/** A column with room for `length` entries, whatever they are at first. */
export function takeColumn(length: number): Float64Array {
  for (const loan of loans) {
    const room = loan.column.length;
    if (room < length || room > 4 * length || loan.view.deref() !== undefined) continue;
    loans.delete(loan);
    return loan.column;
  }
  return new Float64Array(length);
}

/** The first `count` entries of a whole column that nobody else holds, as a result; the column may come back. */
export function lendColumn(column: Float64Array, count: number): Float64Array {
  const view = column.subarray(0, count);
  if (column.length < LENGTH_MIN) return view;
  const loan: Loan = { column, view: new WeakRef(view), isFree: false };
  loans.add(loan);
  collected.register(view, loan);
  let kept = 0;
  for (const { column: one } of loans) kept += one.length;
  for (const oldest of loans) {
    if (kept <= KEPT_LENGTH_MAX) break;
    kept -= oldest.column.length;
    loans.delete(oldest);
  }
  watchDoors(view, () => loans.delete(loan));
  return view;
}

/** Calls `forget` before the first way past a view to its column opens: then the column is nobody's to take back. */
export function watchDoors(view: Float64Array, forget: () => void): void {
  // What lends knows its view weakly, and so must these functions: the view comes as `this`.
  function giveUp(seen: Float64Array): void {
    forget();
    Reflect.deleteProperty(seen, 'buffer');
    Reflect.deleteProperty(seen, 'subarray');
  }
  Object.defineProperties(view, {
    buffer: {
      configurable: true,
      get(this: Float64Array): ArrayBufferLike {
        giveUp(this);
        return this.buffer;
      },
    },
    subarray: {
      configurable: true,
      value(this: Float64Array, from?: number, to?: number): Float64Array {
        giveUp(this);
        return this.subarray(from, to);
      },
    },
  });
}
