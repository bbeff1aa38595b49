import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { createWorld, minutesCsv, requestText, type World } from './world.js';

const HEADER = 'timestamp,timeseriesId,metric,value\n';
const DOUBLED = `${HEADER}2024-03-01T00:00:00.000Z,office,Result,2
2024-03-01T00:01:00.000Z,office,Result,4
2024-03-01T00:02:00.000Z,office,Result,6
`;

function doubling(options: Parameters<typeof createWorld>[0] = {}): World {
  const world = createWorld(options);
  world.write('request.json', requestText('Mul', { scalar: 2 }));
  world.write('office.csv', minutesCsv([1, 2, 3]));
  return world;
}

describe('windrow run', () => {
  it('writes results to standard output and the summary to standard error', async () => {
    const world = doubling();
    const { code, stdout, stderr } = await world.run('run', '~/request.json', '--input', '~/office.csv');
    expect(code).toBe(0);
    expect(stdout).toBe(DOUBLED);
    expect(stderr).toBe(
      'windrow: 3 rows of 1 file in 0.00 s (3,000 rows a second), as batch\nwindrow:   office/Result  3 samples\n',
    );
  });

  it('writes a file, and no other beside it', async () => {
    const world = doubling();
    const { stdout } = await world.run('run', '~/request.json', '--input', '~/office.csv', '--output', '~/out.csv');
    expect(stdout).toBe('');
    expect(world.read('out.csv')).toBe(DOUBLED);
    expect(world.files()).toEqual(['office.csv', 'out.csv', 'request.json']);
  });

  it('reads gzip by file name, and standard input', async () => {
    const world = doubling({ stdin: minutesCsv([1, 2, 3]) });
    world.write('office.csv.gz', gzipSync(minutesCsv([1, 2, 3])));
    expect((await world.run('run', '~/request.json', '--input', '~/office.csv.gz')).stdout).toBe(DOUBLED);
    expect((await world.run('run', '~/request.json', '--input', '-')).stdout).toBe(DOUBLED);
  });

  it('takes the request from standard input', async () => {
    const world = doubling({ stdin: requestText('Mul', { scalar: 2 }) });
    expect((await world.run('run', '-', '--input', '~/office.csv')).stdout).toBe(DOUBLED);
  });

  it('reads several files one after the other, each with its own header', async () => {
    const world = doubling();
    world.write('a.csv', 'timestamp,office\n2024-03-01T00:00:00Z,1\n2024-03-01T00:01:00Z,2\n');
    world.write('b.csv', 'value;timeseriesId;timestamp\n3;office;2024-03-01T00:02:00Z\n');
    expect((await world.run('run', '~/request.json', '--input', '~/a.csv', '~/b.csv')).stdout).toBe(DOUBLED);
    expect((await world.run('run', '~/request.json', '--input', '~/a.csv', '--input=~/b.csv')).stdout).toBe(DOUBLED);
  });

  it('writes results in the order of the request, in whatever order they come', async () => {
    const world = doubling();
    const [first] = JSON.parse(requestText('Aggregate', { function: 'Sum', interval: 'Hourly' }, 'Sum'));
    const [second] = JSON.parse(requestText('Mul', { scalar: 2 }));
    world.write('two.json', JSON.stringify([first, second]));
    const sum = `${HEADER}2024-03-01T00:00:00.000Z,office,Sum,6\n`;
    const expected = sum + DOUBLED.slice(HEADER.length);
    for (const output of [[], ['--output', '~/out.csv']]) {
      const { stdout } = await world.run('run', '~/two.json', '--input', '~/office.csv', '--chunk', '1', ...output);
      expect(output.length === 0 ? stdout : world.read('out.csv')).toBe(expected);
    }
  });

  it('gives the same bytes as batch and as stream, in chunks of any size', async () => {
    const world = doubling();
    world.write('office.csv', minutesCsv(Array.from({ length: 200 }, (_, i) => Math.sin(i) * 100)));
    world.write('request.json', requestText('Aggregate', { function: 'Average', interval: 'QuarterHourly' }));
    const batch = await world.run('run', '~/request.json', '--input', '~/office.csv');
    for (const chunk of ['1', '7', '64', '1000']) {
      const words = ['run', '~/request.json', '--input', '~/office.csv', '--mode', 'stream', '--chunk', chunk];
      expect((await world.run(...words)).stdout).toBe(batch.stdout);
    }
  });

  it('sorts a batch in memory if a series is not in time order, and says so', async () => {
    const [header = '', ...rows] = minutesCsv([1, 2, 3]).trim().split('\n');
    const reversed = `${[header, ...rows.reverse()].join('\n')}\n`;
    const world = doubling({ stdin: reversed });
    world.write('office.csv', reversed);
    for (const input of ['~/office.csv', '-']) {
      const { stdout, stderr } = await world.run(
        'run',
        '~/request.json',
        '--input',
        input,
        '--report',
        '~/report.json',
      );
      expect(stdout).toBe(DOUBLED);
      expect(stderr).toContain('office/Raw is not in time order, so everything was sorted in memory');
      expect(JSON.parse(world.read('report.json')).isSortedInMemory).toBe(true);
    }
  });

  it('warns of a series of several files that do not follow each other in time, as it may be several', async () => {
    const world = doubling();
    const rows = ['00:00', '00:02', '00:04'].map((time) => `2024-03-01T${time}:00Z,1`);
    const later = ['00:05', '00:06'].map((time) => `2024-03-01T${time}:00Z,1`);
    const between = ['00:01', '00:03'].map((time) => `2024-03-01T${time}:00Z,2`);
    const files = Object.entries({ 'a.csv': rows, 'b.csv': later, 'c.csv': between });
    for (const [name, lines] of files) world.write(name, `time,office\n${lines.join('\n')}\n`);
    const warningOf = async (...names: string[]) => {
      const { stderr } = await world.run('run', '~/request.json', '--input', ...names.map((name) => `~/${name}`));
      return stderr.split('\n').find((line) => line.includes('WARNING'));
    };
    expect(await warningOf('a.csv', 'b.csv')).toBeUndefined();
    expect(await warningOf('a.csv', 'c.csv')).toBe(
      'windrow: WARNING: office/Raw was taken for one series of 2 files (~/a.csv, ~/c.csv), ' +
        'which do not follow each other in time; if each has a series of its own, give their columns different names',
    );
  });

  it('warns if no sample lies within --from and --until', async () => {
    const words = ['run', '~/request.json', '--input', '~/office.csv', '--from', '2030-01-01'];
    const { stderr } = await doubling().run(...words);
    expect(stderr).toContain('WARNING: no sample of office/Raw lies within --from and --until\n');
  });

  it('counts and writes samples that are too late for a stream', async () => {
    const world = doubling();
    const rows = ['00:05,5', '00:01,1', '00:04,4', '00:06,6'].map((row) => `2024-03-01T${row.replace(',', ':00Z,')}\n`);
    world.write('office.csv', `timestamp,value\n${rows.join('')}`);
    const words = ['run', '~/request.json', '--input', '~/office.csv', '--mode', 'stream', '--rejects', '~/late.csv'];
    const { stdout, stderr } = await world.run(...words, '--lateness', 'PT2M');
    expect(stdout.match(/Result,\d+/g)).toEqual(['Result,8', 'Result,10', 'Result,12']);
    expect(stderr).toContain('1 sample of office/Raw: later than --lateness allows');
    expect(world.read('late.csv')).toBe(
      `file,line,reason,row\n${world.path('office.csv')},,came later than the allowed lateness,` +
        '"2024-03-01T00:01:00.000Z,office,Raw,1"\n',
    );
  });

  it('skips bad rows if allowed, and keeps them', async () => {
    const world = doubling();
    world.write('office.csv', minutesCsv([1, 2, 3, '"4,x"', 'x']));
    const words = [
      'run',
      '~/request.json',
      '--input',
      '~/office.csv',
      '--on-bad-row',
      'skip',
      '--rejects',
      '~/bad.csv',
    ];
    const { code, stdout, stderr } = await world.run(...words);
    expect(code).toBe(0);
    expect(stdout).toBe(DOUBLED);
    expect(stderr).toContain('2 bad rows of ~/office.csv');
    const [, comma = '', letter = ''] = world.read('bad.csv').split('\n');
    expect(comma).toContain('office.csv,5,"column 2 (value): ""4,x"" is not a number');
    expect(comma).toContain('"2024-03-01T00:03:00.000Z,""4,x"""');
    expect(letter).toContain('office.csv,6,');
  });

  it('takes from, until and a time zone', async () => {
    const world = doubling();
    world.write('office.csv', 'timestamp,value\n2024-01-01 00:30,1\n2024-01-01 01:30,2\n2024-01-02 00:00,4\n');
    world.write('request.json', requestText('Aggregate', { function: 'Sum', interval: 'Daily' }));
    const words = ['run', '~/request.json', '--input', '~/office.csv', '--timezone', 'Europe/Berlin'];
    const { stdout, stderr } = await world.run(...words, '--from', '2024-01-01 01:00', '--until', '2024-01-02');
    expect(stdout).toBe(`${HEADER}2023-12-31T23:00:00.000Z,office,Result,2\n`);
    expect(stderr).toContain('2 samples of office/Raw: outside --from and --until');
  });

  it('warms up, so that one run a day gives one run over all days', async () => {
    const world = doubling();
    const rows = ['2024-01-01 00:30,1', '2024-01-01 18:00,4', '2024-01-02 06:00,2', '2024-01-03 12:00,0'];
    world.write('office.csv', `timestamp,value\n${rows.join('\n')}\n`);
    const parameters = { function: 'TimeWeightedAverage', interval: 'PT6H' };
    world.write('request.json', requestText('Aggregate', parameters));
    const words = ['run', '~/request.json', '--input', '~/office.csv', '--quiet'];
    const whole = await world.run(...words, '--until', '2024-01-04');
    const parts: string[] = [];
    for (const day of [1, 2, 3]) {
      const span = ['--from', `2024-01-0${day}`, '--until', `2024-01-0${day + 1}`, '--warmup', 'P5D'];
      parts.push((await world.run(...words, ...span)).stdout.slice(HEADER.length));
    }
    expect(HEADER + parts.join('')).toBe(whole.stdout);
  });
});
