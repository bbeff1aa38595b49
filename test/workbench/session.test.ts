import { describe, expect, it } from 'vitest';
import type { Series } from '../../src/index.js';
import { Session } from '../../src/workbench/engine/session.js';

describe('the session of the page', () => {
  it('looks at each of many series a few times, not once for each other one', async () => {
    let looks = 0;
    const series = Array.from({ length: 300 }, (_, index): Series => {
      const columns = { timeMs: Float64Array.of(0, 1), value: Float64Array.of(index, 1) };
      return {
        ...columns,
        metric: 'Raw',
        get timeseriesId() {
          looks++;
          return `meter-${index}`;
        },
      };
    });
    const session = new Session();
    const about = { name: 'many.csv', isFile: true, rows: 600, missing: 0, notes: [] };
    expect((await session.take(about, series)).series).toHaveLength(300);
    await session.take({ ...about, name: 'more.csv' }, series.slice(0, 1));
    await session.remove('many.csv');
    expect(looks).toBeLessThan(20 * series.length);
  });
});
