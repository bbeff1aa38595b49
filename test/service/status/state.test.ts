import fc from 'fast-check';
import { expect, it } from 'vitest';
import { moveChild, parentState, type TransactionState } from '../../../src/service/status/request-states.js';

const states: readonly TransactionState[] = ['Created', 'Running', 'Active', 'Completed', 'Failed'];

it('the state of a parent follows from its children', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...states), { minLength: 1, maxLength: 8 }), (children) => {
      const state = parentState(countsOf(children));
      const has = (one: TransactionState): boolean => children.includes(one);
      const isAll = (...some: TransactionState[]): boolean => children.every((one) => some.includes(one));
      expect(state === 'Created').toBe(isAll('Created'));
      expect(state === 'Running').toBe(has('Running') || (has('Created') && !isAll('Created')));
      expect(state === 'Completed').toBe(isAll('Completed'));
      expect(state === 'Failed').toBe(isAll('Active', 'Completed', 'Failed') && has('Failed'));
      expect(state === 'Active').toBe(isAll('Active', 'Completed') && has('Active'));
    }),
  );
});

it('counts updated with each child equal those of the children', () => {
  const moves = fc.array(fc.tuple(fc.nat(4), fc.constantFrom(...states)), { maxLength: 20 });
  fc.assert(
    fc.property(moves, (drawn) => {
      const children: TransactionState[] = new Array<TransactionState>(5).fill('Created');
      let counts = countsOf(children);
      for (const [child, state] of drawn) {
        counts = moveChild(counts, children[child]!, state);
        children[child] = state;
      }
      for (const state of states) expect(counts[state] ?? 0).toBe(countsOf(children)[state] ?? 0);
    }),
  );
});

function countsOf(children: readonly TransactionState[]) {
  const counts: Partial<Record<TransactionState, number>> = {};
  for (const state of children) counts[state] = (counts[state] ?? 0) + 1;
  return counts;
}
