// A file that does not say clearly what it holds is never read by a guess: the command asks, and names the option.
import { describe, expect, it } from 'vitest';
import { createWorld, type Ended, requestText, type World } from './world.js';

const DAILY = { function: 'Average', interval: 'Daily' };

function worldWith(csv: string | Uint8Array, parameters: object = DAILY): World {
  const world = createWorld();
  world.write('request.json', requestText('Aggregate', parameters));
  world.write('office.csv', csv);
  return world;
}

function run(world: World, ...words: string[]): Promise<Ended> {
  return world.run('run', '~/request.json', '--input', '~/office.csv', ...words);
}

const resultsOf = ({ stdout }: Ended): string[] =>
  stdout
    .trim()
    .split('\n')
    .slice(1)
    .map((row) => row.replace(':00.000Z', '').replace(',Result', ''));

describe('several devices in one file', () => {
  const rows = [...'012345'].map((hour) => ['office', 'cellar'].map((id, i) => `2024-03-01T0${hour}:00,${id},${i}0\n`));
  const csv = `time,device_id,temperature\n${rows.flat().join('')}`;

  it('are not merged into one series', async () => {
    const { code, stdout, stderr } = await run(worldWith(csv));
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain('~/office.csv, line 1: the column "device_id" (office, cellar) seems to say which series');
    expect(stderr).toContain('--series device_id');
  });

  it('are told apart once the caller names the column, which the summary repeats', async () => {
    const ended = await run(worldWith(csv), '--series', 'device_id');
    expect(resultsOf(ended)).toEqual(['2024-03-01T00:00,office,0']);
    expect(ended.stderr).toContain('~/office.csv: series by device_id; values of temperature\n');
  });

  it('are recognised by times that rows share, whatever the column is called', async () => {
    const shared = csv.replace('device_id', 'where').replaceAll('office', '1').replaceAll('cellar', '2');
    const { code, stderr } = await run(worldWith(shared));
    expect(code).toBe(2);
    expect(stderr).toContain('the column "where" (1, 2) seems to say which series a row belongs to');
    expect(stderr).toContain('--layout wide');
  });

  it('are recognised by two columns if rows share time and name, as InfluxDB 1 writes them', async () => {
    const hosts = ['host=a', 'host=b'].map((tags, i) => (time: number) => `cpu,${tags},${time},${i}`);
    const influx = [1, 2, 3, 4, 5].flatMap((hour) => hosts.map((row) => row(1_709_250_000 + 3600 * hour)));
    const world = worldWith(`name,tags,time,value\n${influx.join('\n')}\n`);
    const { code, stderr } = await run(world);
    expect(code).toBe(2);
    expect(stderr).toContain('the columns "name" (cpu) and "tags" (host=a, host=b) seem to say which series a row');
    expect(stderr).toContain('(--series name tags)');
  });

  it('count as replaced samples if the caller insists; the summary says so first', async () => {
    const wide = csv.replace('temperature', 'office');
    const { code, stderr } = await run(worldWith(wide), '--layout', 'wide');
    expect(code).toBe(0);
    expect(stderr).toMatch(/^windrow: WARNING: 6 of 12 samples of office\/Raw were replaced by a later one/);
  });

  it('a column of such a name may be a series if the request reads it', async () => {
    const world = worldWith('time,office,note\n2024-03-01,1,a\n2024-03-02,2,b\n');
    world.write('office.csv', 'time,device\n2024-03-01,7\n2024-03-02,7\n');
    world.write('request.json', requestText('Aggregate', DAILY).replaceAll('office', 'device'));
    expect(resultsOf(await run(world))).toEqual(['2024-03-01T00:00,device,7', '2024-03-02T00:00,device,7']);
  });
});

describe('date and time of day in separate columns', () => {
  const rows = ['00:00,00:15,1', '00:15,00:30,3'].map((row) => `Electric,3/31/2024,${row},\n`).join('');
  const csv = `TYPE,DATE,START TIME,END TIME,office,NOTES\n${rows}`;

  it('form one time', async () => {
    const ended = await run(worldWith(csv, { function: 'Last', interval: 'QuarterHourly' }));
    expect(resultsOf(ended)).toEqual(['2024-03-31T00:00,office,1', '2024-03-31T00:15,office,3']);
    expect(ended.stderr).toContain('times of DATE and START TIME; dates with the month first');
  });

  it('need an option if there are two times of day', async () => {
    const { code, stderr } = await run(worldWith(csv.replace('END', 'OTHER')));
    expect(code).toBe(2);
    expect(stderr).toContain(
      'and the time of day if one holds it, with the option time (--time DATE "START TIME", or only --time DATE)',
    );
    const ended = await run(worldWith(csv.replace('END', 'OTHER')), '--time', 'DATE', 'OTHER TIME');
    expect(ended.stderr).toContain('times of DATE and OTHER TIME');
  });

  it.each(['runtime', 'duration', 'peak_time'])('need an option if one may hold durations: %s', async (name) => {
    const durations = `date,${name},office\n2024-03-01,05:30:00,1\n2024-03-02,06:10:00,3\n`;
    const { code, stderr } = await run(worldWith(durations));
    expect(code).toBe(2);
    expect(stderr).toContain(`the times may be in columns of their own, among "date", "${name}"`);
    const ended = await run(worldWith(durations, { function: 'Last', interval: 'PT1M' }), '--time', 'date');
    expect(resultsOf(ended)).toEqual(['2024-03-01T00:00,office,1', '2024-03-02T00:00,office,3']);
  });

  it.each(['Time', 'Uhrzeit (MEZ)', 'Stunde', 'Tijd', 'Start time (CET)', 'Time (UTC+1)', 'hora_local', 'time of day'])(
    '%s holds times of day',
    async (name) => {
      const ended = await run(
        worldWith(`date,${name},office\n2024-03-01,05:30,1\n`, { function: 'Last', interval: 'PT1M' }),
      );
      expect(resultsOf(ended)).toEqual(['2024-03-01T05:30,office,1']);
    },
  );

  it('may count the hours, which the message says', async () => {
    const hours = Array.from({ length: 72 }, (_, i) => `2024-03-0${1 + Math.floor(i / 24)},${i % 24},${i}\n`);
    const counted = `date,hour,office\n${hours.join('')}`;
    const world = worldWith(counted);
    world.write('request.json', requestText('Aggregate', DAILY).replaceAll('"office"', '"*"'));
    const { code, stderr } = await run(world);
    expect(code).toBe(2);
    expect(stderr).toContain('with --layout wide (--time date hour if it holds hours)\n');
    const ended = await run(worldWith(counted, { function: 'Last', interval: 'Hourly' }), '--time', 'date', 'hour');
    expect(resultsOf(ended)).toHaveLength(72);
    expect(resultsOf(ended).at(-1)).toBe('2024-03-03T23:00,office,71');
    const spaced = worldWith(counted.replace('hour', 'Hour of day'));
    spaced.write('request.json', world.read('request.json'));
    expect((await run(spaced)).stderr).toContain('(--time date "Hour of day" if it holds hours)\n');
    const rows = hours.map((row) => row.trim().split(','));
    const objects = rows.map(([date, hour, office]) => `{"date":"${date}","hour":${hour},"office":${office}}\n`);
    world.write('office.ndjson', objects.join(''));
    const read = await world.run('run', '~/request.json', '--input', '~/office.ndjson', '--time', 'date', 'hour');
    expect(resultsOf(read)).toHaveLength(3);
    const few = await run(worldWith(counted));
    expect(few.stderr).toContain(
      'name it with --series; if one holds the time of day, name it beside the date with --time',
    );
  });
});

describe('columns of other things than numbers', () => {
  it.each([
    ['times', '2024-03-01T00:00:05Z'],
    ['dates', '2024-03-01'],
    ['addresses', '192.168.0.1'],
    ['versions', '1.12.3'],
  ])('%s are left out where nothing asks for them, and the error names the option elsewhere', async (_, text) => {
    const world = worldWith(`timestamp,extra,office\n2024-03-01T00:00:00Z,${text},1\n`);
    world.write('request.json', requestText('Aggregate', DAILY).replaceAll('"office"', '"*"'));
    for (const command of ['plot', 'init']) {
      const { code, stdout, stderr } = await world.run(command, '~/office.csv');
      expect(code).toBe(0);
      expect(stdout + stderr).toContain('texts left out: extra');
    }
    const { code, stderr } = await run(world);
    expect(code).toBe(1);
    expect(stderr).toContain(
      'or nothing where the value is missing; the option value names the columns to read (--value',
    );
    expect(resultsOf(await run(world, '--value', 'office'))).toEqual(['2024-03-01T00:00,office,1']);
  });

  it('numbers of eight digits that look like dates are numbers', async () => {
    const world = worldWith('timestamp,office\n2024-03-01T00:00:00Z,20240131\n');
    expect(resultsOf(await run(world))).toEqual(['2024-03-01T00:00,office,20240131']);
    expect((await world.run('init', '~/office.csv')).code).toBe(0);
  });
});

describe('one day per row', () => {
  const clocks = Array.from({ length: 24 }, (_, hour) => `${String(hour).padStart(2, '0')}:00`);
  const days = ['2024-03-01', '2024-03-02'].map((day, i) => `${day},${clocks.map((_, hour) => 100 * i + hour)}\n`);

  it.each([
    ['times of day', clocks],
    ['hours from 1', clocks.map((_, hour) => String(hour + 1))],
    ['numbers behind a letter', clocks.map((_, hour) => `H${String(hour).padStart(2, '0')}`)],
  ])('is read by columns that are %s', async (_, names) => {
    const world = worldWith(`date,${names}\n${days.join('')}`, { function: 'Max', interval: 'PT12H' });
    const ended = await run(world);
    expect(ended.stderr).toContain('a day in each row, in 24 columns from');
    expect(resultsOf(ended)).toEqual([
      '2024-03-01T00:00,office,11',
      '2024-03-01T12:00,office,23',
      '2024-03-02T00:00,office,111',
      '2024-03-02T12:00,office,123',
    ]);
  });

  it('needs an option if the names do not say it', async () => {
    const { code, stderr } = await run(worldWith(`date,${clocks.map((_, i) => `x${i * 7}`)}\n${days.join('')}`));
    expect(code).toBe(2);
    expect(stderr).toContain('a row has a date and 24 values, x0 to x161');
    expect(stderr).toContain('--layout wide');
  });

  it('has one meter per --series, and 25 hours when clocks go back', async () => {
    const names = ['00:00', '01:00', '02:00', '02:00', ...clocks.slice(3)];
    const csv = `meter;day;${names.join(';')}\noffice;27.10.2024;${names.map((_, i) => `${i},5`).join(';')}\n`;
    const words = ['--series', 'meter', '--timezone', 'Europe/Berlin'];
    const ended = await run(worldWith(csv, { function: 'Count', interval: 'Daily' }), ...words);
    expect(resultsOf(ended)).toEqual(['2024-10-26T22:00,office,25']);
    expect(ended.stderr).toContain('decimal commas');
  });

  it.each([
    ['meter', ['office', 'cellar'], 'the column "meter" (office, cellar) seems to say which series a row belongs to'],
    ['flow', [1, 2], 'the column "flow" (1, 2) seems to say which series a row belongs to'],
  ])('never merges the rows of several series (%s)', async (name, keys, question) => {
    const dates = ['2024-03-01', '2024-03-02', '2024-03-03', '2024-03-04'];
    const rows = dates.flatMap((day) => keys.map((key) => `${key},${day},${clocks.map((_, i) => i / 10)}\n`));
    const world = worldWith(`${name},date,${clocks}\n${rows.join('')}`, { function: 'Count', interval: 'Daily' });
    const { code, stdout, stderr } = await run(world);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(question);
    expect(stderr).toContain(`--series ${name}`);
    const ended = await run(world, '--layout', 'days');
    expect(ended.stderr).toMatch(/^windrow: WARNING: 96 of 192 samples of office\/Raw were replaced by a later one/);
  });

  it('asks which series a row belongs to where two rows have one date, and tells of the columns left out', async () => {
    const rows = ['2024-03-01', '2024-03-02'].flatMap((day) =>
      [40017, 40018].map((meter) => `${meter},${day},${clocks.map((_, i) => i)},276\n`),
    );
    const world = worldWith(`unit no,date,${clocks},sum\n${rows.join('')}`, { function: 'Count', interval: 'Daily' });
    const { code, stderr } = await run(world);
    expect([code, stderr]).toEqual([2, expect.stringContaining('the column "unit no" (40017, 40018) seems to say')]);
    const csv = `date,${clocks},sum\n2024-03-01,${clocks.map((_, i) => i)},276\n`;
    const ended = await run(worldWith(csv, { function: 'Count', interval: 'Daily' }));
    expect([resultsOf(ended), ended.stderr]).toEqual([
      ['2024-03-01T00:00,office,24'],
      expect.stringContaining('columns left out: sum\n'),
    ]);
  });

  it.each([
    [
      '2A:00 and 2B:00',
      ['2A:00', '2B:00'],
      /: "2A:00" and "2B:00" are no times of day like 00:00; call both columns of an hour that occurs twice alike/,
    ],
    ['02:00*', ['02:00', '02:00*'], /: "02:00\*" are no times of day/],
    ['25:00', ['02:00', '25:00'], /: "25:00" are no times of day/],
  ])('takes every column of a day, or says which it cannot: %s', async (_, twice, message) => {
    const names = ['00:00', '01:00', ...twice, ...clocks.slice(3)];
    const csv = `date,${names}\n2024-10-27,${names.map(() => 1)}\n`;
    expect(await run(worldWith(csv, { function: 'Count', interval: 'Daily' }))).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(message),
    });
  });

  it('asks what 25 numbered columns are', async () => {
    const names = Array.from({ length: 25 }, (_, i) => `H${i + 1}`);
    const world = worldWith(`date,${names}\n2024-10-27,${names.map(() => 1)}\n`, {
      function: 'Count',
      interval: 'Daily',
    });
    const { code, stderr } = await run(world);
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(/a date and 25 values, H1 to H25; .*call them 00:00, 01:00/),
    ]);
    expect((await run(world, '--layout', 'days')).stderr).toContain('no columns for the times of a day');
  });

  it('asks what a few times of day are, and takes the answer', async () => {
    const csv = 'date,08:00,12:00,16:00\n2024-03-01,1,2,3\n2024-03-02,4,5,6\n';
    const world = worldWith(csv, { function: 'Count', interval: 'Daily' });
    const { code, stderr } = await run(world);
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(
        /a date and 3 values, 08:00 to 16:00; if they are the times of a day, say --layout days; .*wide/,
      ),
    ]);
    expect(resultsOf(await run(world, '--layout', 'days'))).toEqual([
      '2024-03-01T00:00,office,3',
      '2024-03-02T00:00,office,3',
    ]);
  });

  it('may end with 24:00, and leaves out the hour that clocks skip', async () => {
    const names = [...clocks.slice(1), '24:00'];
    const csv = `date,${names}\n2024-03-31,${names.map((name) => (name === '02:00' ? '' : 1))}\n`;
    const world = worldWith(csv, { function: 'Count', interval: 'Daily' });
    const ended = await run(world, '--timezone', 'Europe/Berlin');
    expect(resultsOf(ended)).toEqual(['2024-03-30T23:00,office,22', '2024-03-31T22:00,office,1']);
  });
});

describe('the night when clocks go back', () => {
  const local = ['01:45', '02:00', '02:15', '02:30', '02:45', '02:00', '02:15', '02:30', '02:45', '03:00'];
  const utc = ['23:45', '00:00', '00:15', '00:30', '00:45', '01:00', '01:15', '01:30', '01:45', '02:00'];
  const words = ['--timezone', 'Europe/Berlin'];
  const expected = utc.map((time, i) => `2024-10-2${i === 0 ? 6 : 7}T${time},office,${i}`);
  const rowsOf = (id = '') => local.map((time, i) => `2024-10-27T${time}:00${id},${i}\n`);
  const last = { function: 'Last', interval: 'QuarterHourly' };

  it('reads the repeated hour as two hours, one after the other', async () => {
    const ended = await run(worldWith(`time,value\n${rowsOf().join('')}`, last), ...words);
    expect(resultsOf(ended)).toEqual(expected);
    expect(ended.stderr).not.toContain('replaced');
  });

  it('also with times in descending order', async () => {
    const later = '2024-10-28T00:00:00,99\n2024-10-27T04:00:00,98\n';
    const ended = await run(worldWith(`time,value\n${later}${rowsOf().reverse().join('')}`, last), ...words);
    expect(resultsOf(ended).slice(0, 10)).toEqual(expected);
  });

  it('also with alternating series', async () => {
    const other = rowsOf(',other');
    const csv = `time,timeseriesId,value\n${rowsOf(',office')
      .map((row, i) => row + other[i])
      .join('')}`;
    expect(resultsOf(await run(worldWith(csv, last), ...words))).toEqual(expected);
    for (const threads of ['2', '3']) {
      expect(resultsOf(await run(worldWith(csv, last), ...words, '--threads', threads))).toEqual(expected);
    }
  });

  it('leaves times with an offset unchanged', async () => {
    const csv = 'time,value\n2024-10-27T02:30:00+02:00,1\n2024-10-27T02:15:00+01:00,2\n';
    expect(resultsOf(await run(worldWith(csv, last), ...words))).toEqual([
      '2024-10-27T00:30,office,1',
      '2024-10-27T01:15,office,2',
    ]);
  });
});

describe('what cannot be right', () => {
  it('a file in which every row is bad is an error, even if bad rows are skipped', async () => {
    const world = worldWith('timestamp,value\n2024-03-01,x\n2024-03-02,y\n');
    const { code, stderr } = await run(world, '--on-bad-row', 'skip');
    expect(code).toBe(1);
    expect(stderr).toContain('~/office.csv: all 2 rows are bad, so nothing is left to compute; the first is line 2');
    expect(stderr).toContain('column 2 (value): "x" is not a number');
  });

  it.each([
    ['dates', ['20240131', '20240201'], ['2024-01-31T00:00,office,1', '2024-02-01T00:00,office,1']],
    ['seconds', ['120240131', '20240201'], ['1970-08-23T00:00,office,1', '1973-10-23T00:00,office,1']],
  ])('eight digits can be %s', async (_, times, expected) => {
    const ended = await run(worldWith(`timestamp,value\n${times.map((time) => `${time},1\n`).join('')}`));
    expect(resultsOf(ended)).toEqual(expected);
  });

  it('eight digits that can be both need an option', async () => {
    const world = worldWith('timestamp,value\n20240131,1\n20240132,1\n');
    expect((await run(world)).stderr).toContain('--time-format ymd, or s');
    expect(resultsOf(await run(world, '--time-format', 's'))).toEqual(['1970-08-23T00:00,office,1']);
  });
});

describe('init, plot and why', () => {
  const rows = [...'012345'].map((hour) => ['office', 'cellar'].map((id, i) => `2024-03-01T0${hour}:00,${id},${i}\n`));
  const csv = `time,device_id,temperature\n${rows.flat().join('')}`;
  const of = ['--series', 'office/Result', '--at', '2024-03-01'];

  it.each([
    [['init', '~/office.csv'], '--series'],
    [['plot', '~/office.csv'], '--series-column'],
    [['why', '~/request.json', '--input', '~/office.csv', ...of], '--series-column'],
  ])('ask about a file as run does, and take the answer: %s', async (words, flag) => {
    const world = worldWith(csv);
    const asked = await world.run(...words);
    expect(asked).toMatchObject({ code: 2, stdout: '' });
    expect(asked.stderr).toContain(`if so, say it with the option series (${flag} device_id); if each column`);
    const answered = await world.run(...words, flag, 'device_id');
    expect(answered).toMatchObject({ code: 0, stdout: expect.stringContaining('office') });
  });

  it('read what only options explain', async () => {
    const world = worldWith('time,state\n01/02/2024 10:00,on\n03/02/2024 11:00,off\n');
    const answers = ['--time-format', 'dmy', '--states', 'on=1', 'off=0', '--as', "the office's/door"];
    const made = await world.run(
      'init',
      '~/office.csv',
      '--output',
      '~/new.json',
      '--timezone',
      'Asia/Tokyo',
      ...answers,
    );
    expect(made.stderr).toContain(
      'next: windrow run ~/new.json --input ~/office.csv --timezone Asia/Tokyo ' +
        "--as 'the office'\\''s/door' --time-format dmy --states on=1 off=0\n",
    );
    const ran = await world.run('run', '~/new.json', '--input', '~/office.csv', '--timezone', 'Asia/Tokyo', ...answers);
    expect(ran.stdout).toContain("2024-01-31T15:00:00.000Z,the office's,door MonthlyAverage,0.5\n");
    const drawn = await world.run('plot', '~/office.csv', '--output', '-', ...answers);
    expect(drawn.stdout).toContain("the office's/door: 2 samples from 0 to 1.");
  });
});
