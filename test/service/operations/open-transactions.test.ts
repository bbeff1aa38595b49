import { describe, expect, it } from 'vitest';
import { createInlinePool, type StepPool } from '../../../src/service/operations/compute/pool.js';
import { createDatabase, hasPostgres } from '../../storage/postgres/open.js';
import { storeIn } from '../../storage/under-test.js';
import { change, item, minutes } from './posted.js';
import { openRig, smallSizes } from './rig.js';

const OPEN = `SELECT count(*) FROM pg_stat_activity
  WHERE application_name = 'windrow' AND datname = current_database() AND xact_start IS NOT NULL`;

describe.runIf(hasPostgres)('over PostgreSQL', () => {
  it('no transaction is open while a turn is computed, however long it takes, so vacuum is not held up', async () => {
    const database = await createDatabase();
    let turns = 0;
    const pool = (): StepPool => {
      const inline = createInlinePool();
      return {
        ...inline,
        run: async (...step) => {
          // The turn waits until no transaction is open; one that waited for the turn would stay open for ever.
          // Background work may have others open for a moment.
          await expect.poll(() => database.query(OPEN)).toBe('0');
          turns++;
          return inline.run(...step);
        },
      };
    };
    const rig = await openRig({ pool, sizes: smallSizes, store: storeIn(database), groups: 1 });
    try {
      const room = minutes('room', 60, (i) => (i * 37) % 100);
      await rig.append(change(room, 0, 60));
      await rig.register([item('Aggregate', { function: 'Average', interval: 'QuarterHourly' }, ['room'], 'mean')]);
      await rig.worker().onIdle();
      expect(turns).toBeGreaterThan(3);
      const { expected, found } = await rig.compare();
      expect(found).toEqual(expected);
    } finally {
      await rig.close();
    }
  });

  it('and one is open while one of its statements runs, so the query above would see it', async () => {
    const database = await createDatabase();
    const rig = await openRig({ store: storeIn(database), groups: 1 });
    try {
      const counts = await rig.context.storage.transaction(0, async () => Number(await database.query(OPEN)));
      expect(counts).toBeGreaterThan(0);
    } finally {
      await rig.close();
    }
  });
});
