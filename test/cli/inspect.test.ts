import { describe, expect, it } from 'vitest';
import { createWorld, requestText, type World } from './world.js';

const step = (operation: string, from: string, to: string, parameters: object) => {
  const named = (metric: string) => [{ timeseriesId: 'office', metric }];
  return { operation, input: named(from), output: named(to), parameters };
};
const request = (lower: number) =>
  JSON.stringify([
    {
      metric: 'DailySum',
      processingType: 'batch',
      operations: [
        step('Where', 'Raw', 'Kept', { valuerangelist: [{ lower }] }),
        step('Aggregate', 'Kept', 'DailySum', { function: 'Sum', interval: 'Daily', timezone: 'Europe/Berlin' }),
      ],
    },
  ]);
const CSV = `timestamp,value
2024-03-01T22:00:00Z,1

2024-03-01T23:30:00Z,2
2024-03-02T08:00:00Z,-5
2024-03-02T09:00:00Z,
2024-03-02T09:30:00Z,70
2024-03-02T09:30:00Z,7
2024-03-03T10:00:00Z,4
`;

function office(): World {
  const world = createWorld();
  world.write('request.json', request(0));
  world.write('office.csv', CSV);
  return world;
}
const given = ['~/request.json', '--input', '~/office.csv'];
const of = ['--series', 'office/DailySum', '--at', '2024-03-02T00:00:00+01:00', '--timezone', 'Europe/Berlin'];

describe('windrow why', () => {
  it('goes from a result back to the rows of the file, with what was dropped on the way and why', async () => {
    const world = office();
    const { code, stdout, stderr } = await world.run('why', ...given, ...of);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    // `explain` has its own tests for the descriptions of steps.
    const printed = stdout.replaceAll(`${world.folder}/`, '~/').replace(/^(\w+): .* {2}\(/gm, '$1 (');
    expect(printed).toBe(
      `office/DailySum at 2024-03-02T00:00:00.000+01:00 is 9

Aggregate (/0/operations/1)
  window  2024-03-02T00:00:00.000+01:00 to 2024-03-03T00:00:00.000+01:00 (Europe/Berlin)
  gave    1 result of office/DailySum
    2024-03-02T00:00:00.000+01:00  9
  used    2 samples of office/Kept
    2024-03-02T00:30:00.000+01:00  2
    2024-03-02T10:30:00.000+01:00  7

Where (/0/operations/0)
  gave    2 results of office/Kept
    2024-03-02T00:30:00.000+01:00  2
    2024-03-02T10:30:00.000+01:00  7
  used    3 samples of office/Raw
    2024-03-02T00:30:00.000+01:00  2
    2024-03-02T09:00:00.000+01:00  -5
    2024-03-02T10:30:00.000+01:00  7
  dropped 1 sample of these
    2024-03-02T09:00:00.000+01:00  -5  Where has no result at this time

Input office/Raw: 3 samples
    2024-03-02T00:30:00.000+01:00  2  ~/office.csv:4
    2024-03-02T09:00:00.000+01:00  -5  ~/office.csv:5
    2024-03-02T10:30:00.000+01:00  7  ~/office.csv:8
  left out 2 samples between them
    2024-03-02T10:00:00.000+01:00  NaN  ~/office.csv:6: it has no value
    2024-03-02T10:30:00.000+01:00  70  ~/office.csv:7: a later sample of the same time replaced it
`,
    );
  });

  it('prints the same as JSON', async () => {
    const { stdout } = await office().run('why', ...given, ...of, '--json');
    const printed = JSON.parse(stdout);
    expect(printed).toMatchObject({ value: 9, timestamp: '2024-03-02T00:00:00.000+01:00' });
    expect(printed.steps.map(({ operation }: { operation: string }) => operation)).toEqual(['Aggregate', 'Where']);
    expect(printed.sources[0].used.map(({ line }: { line: number }) => line)).toEqual([4, 5, 8]);
    expect(printed.sources[0].leftOut.map(({ line }: { line: number }) => line)).toEqual([6, 7]);
  });

  it.each([
    ['ndjson', 'office.ndjson', (t: string, x: number) => `{"timestamp":"${t}","value":${x}}`, '', 3],
    ['line protocol', 'office.lp', (t: string, x: number) => `office Raw=${x} ${Date.parse(t)}000000`, '', 3],
    ['rows of several lines', 'office.csv', (t: string, x: number) => `${t},${x},"a\nb"`, 'timestamp,office,note', 6],
    ['a format by option', 'office', (t: string, x: number) => `{"timestamp":"${t}","value":${x}}`, '', 3],
  ])('names the lines of %s', async (_, name, row, header, line) => {
    const world = office();
    const times = ['2024-03-01T23:30:00Z', '2024-03-02T08:00:00Z', '2024-03-02T09:00:00Z'];
    world.write(
      name,
      `${[...(header === '' ? [] : [header]), ...times.map((time, i) => row(time, i + 1))].join('\n')}\n`,
    );
    const format = name.includes('.') ? [] : ['--format', 'ndjson'];
    // An epoch time is taken as `run --from` takes it.
    const words = ['--series', 'office/DailySum', '--at', '1709334000', '--timezone', 'Europe/Berlin', ...format];
    const { stdout, stderr } = await world.run('why', '~/request.json', '--input', `~/${name}`, ...words);
    expect(stderr).toBe('');
    expect(stdout).toContain(`2024-03-02T10:00:00.000+01:00  3  ${world.path(name)}:${line}\n`);
  });

  it.each(['parquet', 'arrow'])('names the numbers of rows of %s', async (format) => {
    const world = office();
    world.write('copy.json', requestText('Add', { scalar: 0 }, 'Copy'));
    await world.run('run', '~/copy.json', '--input', '~/office.csv', '--output', `~/copy.${format}`);
    world.write('sum.json', JSON.stringify(JSON.parse(request(0))).replaceAll('Raw', 'Copy'));
    const input = ['~/sum.json', '--input', `~/copy.${format}`];
    const { stdout } = await world.run('why', ...input, ...of);
    expect(stdout).toContain(`2024-03-02T10:30:00.000+01:00  7  ${world.path(`copy.${format}`)}:4\n`);
  });

  it.each([
    ['an offset of 53:28 minutes', '1890-01-01T10:00:00.000Z', 'Europe/Berlin'],
    ['a local year 10000', '9999-12-31T20:00:00.000Z', 'Asia/Tokyo'],
    ['a local year 0', '0001-01-01T01:00:00.000Z', 'America/New_York'],
    ['decimals that the local time would not have', '1970-01-01T00:00:00.000123456789012345Z', 'Europe/Berlin'],
  ])('writes times as they are read: %s', async (_, time, zone) => {
    const world = createWorld();
    world.write('copy.json', requestText('Add', { scalar: 0 }, 'Copy'));
    world.write('office.csv', `timestamp,value\n${time},1\n`);
    const words = ['why', '~/copy.json', '--input', '~/office.csv', '--series', 'office/Copy', '--timezone', zone];
    const { stdout } = await world.run(...words, '--at', time, '--json');
    expect(stdout).not.toBe('');
    expect(await world.run(...words, '--at', JSON.parse(stdout).timestamp, '--json')).toMatchObject({ stdout });
  });

  it('leaves out bad rows as a run does', async () => {
    const world = office();
    world.write('office.csv', CSV.replace('\n\n', '\nnonsense,1\n\n'));
    expect(await world.run('why', ...given, ...of)).toMatchObject({ code: 1, stdout: '' });
    const { stdout } = await world.run('why', ...given, ...of, '--on-bad-row', 'skip');
    expect(stdout).toContain('2024-03-02T10:30:00.000+01:00  7  ');
    expect(stdout).toContain('office.csv:9\n');
  });

  it('names the nearest results if there is none at the time', async () => {
    const words = ['--series', 'office/DailySum', '--at', '2024-03-02'];
    expect(await office().run('why', ...given, ...words)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(
        'office/DailySum has no result at 2024-03-02T00:00:00.000Z; the nearest are at 2024-03-01T23:00:00.000Z and ',
      ),
    });
  });
});

describe('windrow verify', () => {
  it('says how many variants gave the same bits, some on several threads', async () => {
    const ended = await office().run('verify', ...given, '--variants', '10', '--seed', '7');
    expect(ended).toEqual({ code: 0, stdout: '11 variants gave the same bits as the batch (seed 7)\n', stderr: '' });
  });

  it('lists them as JSON', async () => {
    const { stdout } = await office().run('verify', ...given, '--variants', '3', '--json');
    expect(JSON.parse(stdout)).toEqual({
      seed: 1,
      same: [
        'read by 3 threads',
        'batch, JavaScript kernels',
        'batch, loaded series',
        expect.stringMatching(/^stream 1, /),
      ],
    });
  });
});

describe('windrow diff', () => {
  it('shows added, removed and changed samples, and the largest differences', async () => {
    const world = office();
    world.write('new.json', request(3));
    expect(await world.run('diff', '~/request.json', '~/new.json', '--input', '~/office.csv')).toEqual({
      code: 0,
      stdout: `office/DailySum: 0 added, 1 gone, 1 different, 1 the same
  the first that were added or are gone
    2024-02-29T23:00:00.000Z  1 -> -
  the largest differences
    2024-03-01T23:00:00.000Z  9 -> 7
`,
      stderr: '',
    });
  });

  it('asks for missing arguments', async () => {
    expect(await office().run('diff', '~/request.json', '--input', '~/office.csv')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('diff: expected NEW.json, received nothing'),
    });
  });
});

it('a value of −0 is not shown as 0, in words or in JSON', async () => {
  const world = createWorld();
  world.write('office.csv', 'timestamp,value\n2024-03-01T22:00:00Z,0\n');
  for (const [name, scalar] of Object.entries({ old: 1, new: -1 })) {
    const operations = [step('Mul', 'Raw', 'Result', { scalar })];
    world.write(`${name}.json`, JSON.stringify([{ metric: 'Result', processingType: 'batch', operations }]));
  }
  const asked = {
    diff: ['~/old.json', '~/new.json'],
    why: ['~/new.json', '--series', 'office/Result', '--at', '2024-03-01T22:00:00Z'],
  };
  for (const [name, words] of Object.entries(asked)) {
    const { stdout } = await world.run(name, ...words, '--input', '~/office.csv');
    const { stdout: json } = await world.run(name, ...words, '--input', '~/office.csv', '--json');
    expect(stdout).toContain(name === 'diff' ? ' 0 -> -0\n' : 'office/Result at 2024-03-01T22:00:00.000Z is -0\n');
    expect(json).toContain(name === 'diff' ? '"after": -0' : '"value": -0');
  }
});

it.each([
  ['why', ...given, ...of],
  ['verify', ...given, '--variants', '2'],
  ['diff', '~/request.json', ...given],
])('%s says how many bad rows it left out', async (...words) => {
  const world = office();
  world.write('office.csv', CSV.replace('\n\n', '\nnonsense,1\nmore,2\n'));
  const stderr = 'windrow: left out: 2 bad rows of ~/office.csv\n';
  expect(await world.run(...words, '--on-bad-row', 'skip')).toMatchObject({ code: 0, stderr });
});
