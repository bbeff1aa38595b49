import { expect, it } from 'vitest';
import { joinMessages, withFailure, withoutRefusal, withRefusal } from '../../../src/service/status/refusals.js';

it('a message lists each member that was refused, until that one has an item', () => {
  const one = withRefusal(null, 'zone-1/Result', 'taken');
  const both = withRefusal(one, 'zone-2/Result', 'taken\n  by a client');
  expect(both).toBe('not computed: zone-1/Result: taken\nnot computed: zone-2/Result: taken by a client');
  expect(withRefusal(both, 'zone-2/Result', 'taken by a client')).toBe(both);
  expect(withoutRefusal(both, 'zone-2/Result')).toBe(one);
  expect(withoutRefusal(both, 'zone-20/Result')).toBe(both);
  expect(withoutRefusal(one, 'zone-1/Result')).toBeNull();
});

it('the message of a failure stands before them, and goes without them', () => {
  const refused = withRefusal('a number is too large\n  at op-3', 'zone-1/Result', 'taken');
  expect(refused).toBe('a number is too large\n  at op-3\nnot computed: zone-1/Result: taken');
  expect(withFailure(refused, 'another')).toBe('another\nnot computed: zone-1/Result: taken');
  expect(withFailure(refused, null)).toBe('not computed: zone-1/Result: taken');
  expect(withFailure('a number is too large', null)).toBeNull();
});

it('a whole has the message of a part that failed, and the refusals of all', () => {
  const parts = [
    { state: 'Active', message: withRefusal(null, 'zone-1/Result', 'taken') },
    { state: 'Running', message: withRefusal('tried again', 'zone-2/Result', 'taken') },
    { state: 'Failed', message: 'a number is too large' },
    { state: 'Active', message: null },
  ];
  const refusals = 'not computed: zone-1/Result: taken\nnot computed: zone-2/Result: taken';
  expect(joinMessages(parts)).toBe(`a number is too large\n${refusals}`);
  expect(joinMessages(parts.slice(0, 2))).toBe(`tried again\n${refusals}`);
  expect(joinMessages(parts.slice(3))).toBeNull();
});

it('of very many, twenty are listed, and the message says that there were more', () => {
  let message: string | null = null;
  for (let n = 1; n <= 50; n++) message = withRefusal(message, `zone-${n}/Result`, 'taken');
  const lines = message!.split('\n');
  expect(lines).toHaveLength(21);
  expect(lines[19]).toBe('not computed: zone-20/Result: taken');
  expect(lines[20]).toBe('not computed: further members were refused too');
  expect(withoutRefusal(message, 'zone-7/Result')!.split('\n')).toHaveLength(20);
});
