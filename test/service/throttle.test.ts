import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  addressSubject,
  blockedForMs,
  countFailure,
  type Failures,
  ofThisClock,
} from '../../src/service/identity/throttle.js';

const MINUTE_MS = 60_000;

function fail(times: readonly number[], max: number): Failures | undefined {
  let failures: Failures | undefined;
  for (const nowMs of times) failures = countFailure(failures, nowMs, max);
  return failures;
}

describe('throttling', () => {
  it('the failure that reaches the limit blocks for a minute', () => {
    const failures = fail([0, 10, 20], 3);
    expect(blockedForMs(failures, 20)).toBe(MINUTE_MS);
    expect(blockedForMs(failures, 20 + MINUTE_MS - 1)).toBe(1);
    expect(blockedForMs(failures, 20 + MINUTE_MS)).toBe(0);
  });

  it('fewer failures within a minute do not block', () => {
    const failures = fail([0, 1], 3);
    expect(blockedForMs(failures, 2)).toBe(0);
    expect(fail([0, 1, MINUTE_MS], 3)).toEqual({ windowStartMs: MINUTE_MS, failureCount: 1, blockedUntilMs: null });
  });

  it('after a block, counting starts again', () => {
    expect(fail([0, 1, 2, 2 + MINUTE_MS], 3)?.failureCount).toBe(1);
  });

  it('a limit of 0 means no limit', () => {
    expect(blockedForMs(fail(Array<number>(100).fill(0), 0), 0)).toBe(0);
  });

  it('no minute allows more guesses than twice the limit, whenever they come', () => {
    const gaps = fc.array(fc.integer({ min: 0, max: 70_000 }), { minLength: 1, maxLength: 80 });
    fc.assert(
      fc.property(gaps, fc.integer({ min: 1, max: 5 }), (gapsMs, max) => {
        let failures: Failures | undefined;
        let nowMs = 0;
        const answered: number[] = [];
        for (const gapMs of gapsMs) {
          nowMs += gapMs;
          if (blockedForMs(failures, nowMs) > 0) continue;
          answered.push(nowMs);
          failures = countFailure(failures, nowMs, max);
        }
        for (const startMs of answered) {
          const count = answered.filter((timeMs) => timeMs >= startMs && timeMs < startMs + MINUTE_MS).length;
          expect(count).toBeLessThan(2 * max);
        }
      }),
    );
  });

  it('setting the clock back by a day neither forgets failures nor blocks anybody for longer than a minute', () => {
    const nowMs = 1e9 - 24 * 60 * MINUTE_MS;
    const blocked = ofThisClock(fail([1e9, 1e9], 2)!, nowMs);
    expect(blockedForMs(blocked, nowMs)).toBe(MINUTE_MS);
    expect(ofThisClock(blocked, nowMs + 1)).toBe(blocked);
    const counted = ofThisClock(fail([1e9, 1e9], 4)!, nowMs);
    expect(counted).toEqual({ windowStartMs: nowMs, failureCount: 2, blockedUntilMs: null });
    expect(blockedForMs(countFailure(counted, nowMs, 3), nowMs)).toBe(MINUTE_MS);
  });

  it('a process whose clock is behind counts on, and blocks for a minute by its own clock', () => {
    const [aheadMs, behindMs] = [1e9, 1e9 - 2000];
    const counted = ofThisClock(fail([aheadMs], 2)!, behindMs);
    const blocked = countFailure(counted, behindMs, 2);
    expect(blockedForMs(blocked, behindMs)).toBe(MINUTE_MS);
    expect(blockedForMs(ofThisClock(fail([aheadMs], 1)!, behindMs), behindMs)).toBe(MINUTE_MS);
  });

  it.each([
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['2001:db8:0:1:2:3:4:5', '2001:db8:0:1::/64'],
    ['2001:0DB8:0000:0001::5', '2001:db8:0:1::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['64:ff9b::192.0.2.7', '64:ff9b:0:0::/64'],
  ])('%s counts as %s', (address, subject) => {
    expect(addressSubject(address)).toBe(subject);
  });
});
