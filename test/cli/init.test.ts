import { describe, expect, it } from 'vitest';
import { createWorld, minutesCsv } from './world.js';

describe('windrow init', () => {
  it('writes a request that run accepts unchanged, and says what the file holds', async () => {
    const world = createWorld();
    world.write('plant.csv', 'timestamp,boiler,chiller\n2024-03-01T00:00:00Z,1,2\n2024-03-01T01:00:00Z,3,\n');
    const { code, stdout, stderr } = await world.run('init', '~/plant.csv', '--output', '~/request.json');
    expect({ code, stdout, stderr }).toEqual({
      code: 0,
      stdout: '',
      stderr: `windrow: ~/plant.csv has 2 series
  boiler/Raw: 2 samples, usually every PT1H, 2024-03-01T00:00:00.000Z to 2024-03-01T01:00:00.000Z
  chiller/Raw: 1 sample and 1 missing, 2024-03-01T00:00:00.000Z to 2024-03-01T00:00:00.000Z
next: windrow run ~/request.json --input ~/plant.csv
all operations: windrow operations
`,
    });
    const ran = await world.run('run', '~/request.json', '--input', '~/plant.csv');
    expect(ran.stdout).toBe(`timestamp,timeseriesId,metric,value
2024-03-01T00:00:00.000Z,boiler,DailyAverage,2
2024-03-01T00:00:00.000Z,chiller,DailyAverage,2
`);
  });

  it('leaves out rows that cannot be read where it is told to, as the error offers; `plot` does, too', async () => {
    const world = createWorld();
    world.write('office.csv', `${minutesCsv([1, 2, 3])}Total,6\n`);
    for (const words of [
      ['init', '~/office.csv'],
      ['plot', '~/office.csv'],
    ]) {
      const { code, stderr } = await world.run(...words);
      expect([code, stderr]).toEqual([
        1,
        'windrow: ~/office.csv, line 5, column 1 (timestamp): "Total" is not of the form 2024-01-31T12:00:00Z\n' +
          '  --on-bad-row skip leaves out such rows, and counts them\n',
      ]);
      const skipped = await world.run(...words, '--on-bad-row', 'skip');
      expect([skipped.code, skipped.stderr]).toEqual([0, expect.stringContaining('1 bad row left out')]);
    }
  });

  it('takes over the names of the file, and chooses windows that fit its samples', async () => {
    const world = createWorld();
    world.write('names.csv', `timestamp,"a ""b"" \\"\n2024-03-01T00:00:00Z,1\n2024-03-01T00:01:00Z,3\n`);
    const { stdout } = await world.run('init', '~/names.csv');
    const [item] = JSON.parse(stdout);
    expect(item.operations[0].input).toEqual([{ timeseriesId: 'a "b" \\', metric: 'Raw' }]);
    expect(item.operations[0].parameters).toEqual({ function: 'Average', interval: 'Hourly' });
  });

  it('names the results of several metrics of one series apart, and from what the file holds', async () => {
    const world = createWorld();
    const rows = ['Raw', 'flow', 'DailyAverage', 'flow DailyAverage'].map(
      (metric, i) => `2024-03-01,pump,${metric},${i}\n`,
    );
    world.write('pump.csv', `timestamp,timeseriesId,metric,value\n${rows.join('')}`);
    await world.run('init', '~/pump.csv', '--output', '~/request.json');
    const { code, stdout } = await world.run('run', '~/request.json', '--input', '~/pump.csv');
    expect({ code, rows: stdout.split('\n').slice(1, -1) }).toEqual({
      code: 0,
      rows: [
        '2024-03-01T00:00:00.000Z,pump,DailyAverage 2,0',
        '2024-03-01T00:00:00.000Z,pump,flow DailyAverage 2,1',
        '2024-03-01T00:00:00.000Z,pump,DailyAverage DailyAverage,2',
        '2024-03-01T00:00:00.000Z,pump,flow DailyAverage DailyAverage,3',
      ],
    });
  });

  it('leaves out a series whose id would be a pattern in a request, and says so', async () => {
    const world = createWorld();
    const row = (id: string, value: number): string => `2024-03-01,${id},${value}\n`;
    const header = 'timestamp,timeseriesId,value\n';
    world.write('zones.csv', header + row('zone-{n}', 1) + row('a*b', 2) + row('{', 3));
    const { stderr } = await world.run('init', '~/zones.csv', '--output', '~/request.json');
    expect(stderr).toContain('\n  zone-{n}/Raw, a*b/Raw: left out, as a request takes such an id for a pattern\n');
    const ran = await world.run('run', '~/request.json', '--input', '~/zones.csv', '--quiet');
    expect(ran).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/\n2024-03-01T00:00:00.000Z,{,DailyAverage,3\n$/),
    });

    world.write('star.csv', header + row('*', 1));
    expect(await world.run('init', '~/star.csv')).toEqual({
      code: 2,
      stdout: '',
      stderr: 'windrow: ~/star.csv: expected a series that a request can name, received */Raw: its id is a pattern\n',
    });
  });

  it('reads a file in the format that its name says', async () => {
    const world = createWorld();
    world.write('plant.ndjson', '{"timestamp":"2024-03-01T00:00:00Z","boiler":1}\n');
    const { stdout } = await world.run('init', '~/plant.ndjson');
    expect(JSON.parse(stdout)[0].operations[0].input).toEqual([{ timeseriesId: 'boiler', metric: 'Raw' }]);
  });

  it('leaves columns of texts out, and says so', async () => {
    const world = createWorld();
    world.write('room.csv', 'timestamp,value,state\n2024-03-01T00:00:00Z,1,on\n2024-03-01T01:00:00Z,3,off\n');
    const { code, stderr } = await world.run('init', '~/room.csv', '--output', '~/request.json');
    expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringContaining('\n  texts left out: state\n') });
    const ran = await world.run('run', '~/request.json', '--input', '~/room.csv');
    expect(ran.stdout).toContain('2024-03-01T00:00:00.000Z,value,DailyAverage,2\n');
  });

  it('does not overwrite a file', async () => {
    const world = createWorld();
    world.write('office.csv', minutesCsv([1, 2]));
    world.write('request.json', 'mine');
    const { code, stderr } = await world.run('init', '~/office.csv', '--output', '~/request.json');
    expect(code).toBe(2);
    expect(stderr).toContain('request.json exists already; remove it, or name another file');
    expect(world.read('request.json')).toBe('mine');
  });

  it('says that a file has no samples', async () => {
    const world = createWorld();
    world.write('office.csv', 'timestamp,value\n');
    const { code, stderr } = await world.run('init', '~/office.csv');
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: 'windrow: ~/office.csv: expected samples, received a file with no rows, or only bad ones\n',
    });
  });

  it('leaves out what is too much for a first request, and says so', async () => {
    const world = createWorld();
    const names = Array.from({ length: 25 }, (_, i) => `s${i}`);
    const row = names.map(() => '1').join(',');
    world.write('wide.csv', `timestamp,${names.join(',')}\n2024-03-01T00:00:00Z,${row}\n`);
    const { stdout, stderr } = await world.run('init', '~/wide.csv');
    expect(JSON.parse(stdout)).toHaveLength(20);
    expect(stderr).toContain('  and 5 more, which the request leaves out\n');
  });
});
