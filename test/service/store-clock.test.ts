import Fastify from 'fastify';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createOpeningService } from '../../src/service/open.js';
import { StoreClock } from '../../src/service/store-clock.js';
import { createDatabase, hasPostgres } from '../storage/postgres/open.js';

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

it.runIf(hasPostgres)('a service over PostgreSQL goes by the time of the database, and says so', async () => {
  const machineNow = Date.now.bind(Date);
  const database = await createDatabase();
  const lines: string[] = [];
  const { log } = Fastify({ logger: { stream: { write: (line: string) => void lines.push(line) } } });
  vi.spyOn(Date, 'now').mockImplementation(() => machineNow() + 100 * DAY_MS);
  onTestFinished(() => void vi.restoreAllMocks());
  const service = createOpeningService({ store: database.address }, log);
  await service.opened;
  expect(Math.abs(service.context.clock.nowMs() - machineNow())).toBeLessThan(1000);
  expect(lines.join('')).toMatch(/"aheadMs":86\d{8},"msg":"the time is taken from the database/);
  await service.close();
  await database.remove();
});
