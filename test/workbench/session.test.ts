import { describe, expect, it } from 'vitest';
import type { Series } from '../../src/index.js';
import type { Answer, Question } from '../../src/workbench/engine/protocol.js';
import { Session } from '../../src/workbench/engine/session.js';
import { serveEngine } from '../../src/workbench/engine/worker.js';

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

  it('replays the samples of a file in the order of time, whatever their order there', async () => {
    const session = new Session();
    const rows = [3, 0, 2, 1].map((hour) => `2024-03-01T0${hour}:00:00Z,${hour}\n`);
    const file = new File(['timestamp,value\n', ...rows], 'm.csv');
    await session.load(file, 'UTC', {});
    const of = (metric: string) => [{ timeseriesId: 'm', metric }];
    const step = { operation: 'Mul', input: of('Raw'), output: of('Twice'), parameters: { scalar: 2 } };
    const options = { allowedLateness: 'PT0S', delayMsMax: 0, seed: 1, samplesPerSecond: 1 };
    const request = [{ metric: 'Twice', processingType: 'batch', operations: [step] }];
    const { extent } = await session.replayStart(request, 'UTC', options);
    expect(extent).toEqual({ fromMs: Date.UTC(2024, 2, 1), untilMs: Date.UTC(2024, 2, 1, 3) });
    const { end, lateCount } = await session.replayGoOn(4);
    expect({ end, lateCount }).toEqual({ end: { compared: 4, different: 0, differentWithLate: 0 }, lateCount: 0 });
  });

  it('tells of a problem of a run at the place in the request of the page', async () => {
    const session = new Session();
    await session.load(
      new File(['timestamp,value\n2024-03-01T00:00:00Z,1\n2025-03-01T00:00:00Z,1\n'], 'm.csv'),
      'UTC',
      {},
    );
    const step = (metric: string, operation: string, parameters: object, pointer: string) => {
      const [input, output] = [[{ timeseriesId: 'm', metric: 'Raw' }], [{ timeseriesId: 'm', metric }]];
      return { pointer, operation, input, output, parameters: { ...parameters }, metric };
    };
    const fine = step('A', 'Abs', {}, '/0/operations/0');
    const many = step('B', 'Resample', { interval: 'PT0.001S', method: 'Previous' }, '/0/operations/2');
    const { problem } = await session.run([fine, many], 'UTC');
    expect(problem).toContain('/0/operations/2');
  });

  it('stops reading a file that is no longer wanted, and answers the next question', async () => {
    const answers: Answer[] = [];
    const scope: Parameters<typeof serveEngine>[0] = { onmessage: null, postMessage: (answer) => answers.push(answer) };
    serveEngine(scope);
    const ask = (data: Question) => scope.onmessage?.({ data });
    const file = new File(['timestamp,flow\n', '2024-03-01T00:00:00Z,1\n'.repeat(1000)], 'm.csv');
    ask({ id: 1, call: 'load', given: [file, 'UTC', {}] });
    ask({ id: 1, call: 'stop', given: [] });
    ask({ id: 2, call: 'load', given: [file, 'UTC', { 'skip-lines': -1 }] });
    ask({ id: 3, call: 'load', given: [file, 'UTC', { as: 'pump/Flow' }] });
    await expect.poll(() => answers.length).toBe(3);
    expect(answers[0]).toEqual({
      id: 1,
      value: { problem: 'm.csv was not read to its end', columns: [], options: [] },
    });
    expect(answers[1]).toMatchObject({
      value: { problem: expect.stringMatching(/^skip-lines: expected a whole number/) },
    });
    expect(answers[2]).toMatchObject({
      value: { rows: 1000, columns: ['timestamp', 'flow'], series: [{ timeseriesId: 'pump', metric: 'Flow' }] },
    });
  });
});
