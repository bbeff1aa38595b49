import { expect, it } from 'vitest';
import { StoreClock } from '../../src/service/store-clock.js';

const DAY_MS = 86_400_000;

function clockAt(machineMs: number) {
  const machine = { nowMs: machineMs };
  const told: number[] = [];
  const clock = new StoreClock({ nowMs: () => machine.nowMs, monotonicMs: () => 7 }, (aheadMs) => told.push(aheadMs));
  return { machine, told, clock };
}

it('a machine whose clock is other than that of the database goes by that of the database', () => {
  for (const aheadMs of [100 * DAY_MS, -2 * DAY_MS, 1500, -1500]) {
    const { machine, told, clock } = clockAt(DAY_MS + aheadMs);
    clock.compare(DAY_MS, 0);
    expect([clock.nowMs(), told]).toEqual([DAY_MS, [aheadMs]]);
    machine.nowMs += 5000;
    clock.compare(DAY_MS + 5000, 20);
    expect([clock.nowMs(), told]).toEqual([DAY_MS + 5000, [aheadMs]]);
    // The machine's is set right.
    machine.nowMs -= aheadMs;
    clock.compare(DAY_MS + 5000, 0);
    expect([clock.nowMs(), told]).toEqual([DAY_MS + 5000, [aheadMs, 0]]);
    expect(clock.monotonicMs()).toBe(7);
  }
});

it('its times are whole milliseconds, whatever the database says', () => {
  const { clock } = clockAt(DAY_MS);
  clock.compare(12_345.678, 0.25);
  expect(clock.nowMs()).toBe(12_346);
});

it('differences under a second, or which the time of the answer may explain, change nothing', () => {
  const { told, clock } = clockAt(DAY_MS);
  clock.compare(DAY_MS - 999, 0);
  clock.compare(DAY_MS + 999, 0);
  clock.compare(DAY_MS - 1400, 500);
  expect(clock.nowMs()).toBe(DAY_MS);
  // The process hung meanwhile.
  clock.compare(0, 15_000);
  expect([clock.nowMs(), told]).toEqual([DAY_MS, []]);
});
