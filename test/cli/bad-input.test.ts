// Every mistake a caller can make has its own message: where it is, what was expected, what was received and how to fix
// it; and an exit code.
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { createWorld, type Ended, minutesCsv, requestText } from './world.js';

async function runWith(files: Readonly<Record<string, string | Uint8Array>>, ...words: string[]): Promise<Ended> {
  const world = createWorld();
  world.write('request.json', requestText('Mul', { scalar: 2 }));
  world.write('office.csv', minutesCsv([1, 2, 3]));
  for (const [name, content] of Object.entries(files)) world.write(name, content);
  const ended = await world.run(...words);
  expect(ended.stdout).toBe('');
  return ended;
}

const RUN = ['run', '~/request.json', '--input', '~/office.csv'];

describe('a faulty request', () => {
  it('that is not JSON: line, column and the place itself', async () => {
    const text = '[\n  {\n    "metric": "Result",\n    "operations": [],\n  }\n]\n';
    const { code, stderr } = await runWith({ 'request.json': text }, ...RUN);
    expect(code).toBe(2);
    expect(stderr).toBe(
      'windrow: ~/request.json:5:3: not JSON: expected a field name in double quotes, received `}`; ' +
        'remove the `,` before the `}`\n    5 |   }\n      |   ^\n',
    );
  });

  it('that has a key twice, of which one would count: the place of the second', async () => {
    const text = requestText('Mul', { scalar: 2 }).replace('"parameters"', '"parameters": {},\n "parameters"');
    const { code, stderr } = await runWith({ 'request.json': text }, ...RUN);
    expect(code).toBe(2);
    expect(stderr).toMatch(
      /^windrow: ~\/request\.json:2:2: expected each key of an object once, received "parameters" twice\n {4}2 \| {2}"/,
    );
  });

  it('with problems: all of them, each with its line', async () => {
    const text = `[
  {
    "metric": "X",
    "processingType": "bach",
    "operations": [{ "operation": "Agregate", "input": [], "output": [], "metrik": "" }]
  }
]
`;
    const { code, stderr } = await runWith({ 'request.json': text }, ...RUN);
    expect(code).toBe(2);
    expect(stderr).toBe(`windrow: ~/request.json: the request has 4 problems
  /0/operations/0/metrik: expected the fields operation, input, output, parameters, received \`metrik\`
    at ~/request.json:5:74
    5 | "Agregate", "input": [], "output": [], "metrik": "" }]
      |                                        ^^^^^^^^
  /0/operations/0/operation: expected the name of an operation, received "Agregate"; did you mean \`Aggregate\`?
    at ~/request.json:5:35
    5 |     "operations": [{ "operation": "Agregate", "input": [], "output": [], "me
      |                                   ^^^^^^^^^^
  /0/operations/0/output: expected exactly one output, received 0
    at ~/request.json:5:70
    5 |     "operations": [{ "operation": "Agregate", "input": [], "output": [], "me
      |                                                                      ^
  /0/processingType: expected one of stream, batch, received "bach"; did you mean \`batch\`?
    at ~/request.json:4:23
    4 |     "processingType": "bach",
      |                       ^^^^^^
`);
  });

  it('whose file is missing, with the file of a similar name', async () => {
    const ended = await runWith({}, 'run', '~/requst.json', '--input', '~/office.csv');
    expect(ended).toEqual({
      code: 2,
      stdout: '',
      stderr: 'windrow: ~/requst.json: no such file; did you mean `request.json`?\n',
    });
  });

  it('that would make absurdly many samples', async () => {
    const request = requestText('Resample', { function: 'Resample', frequency: 'PT1S' });
    const csv = 'timestamp,value\n1970-01-01T00:00:00Z,1\n2100-01-01T00:00:00Z,2\n';
    for (const mode of ['batch', 'stream']) {
      const { code, stderr } = await runWith({ 'request.json': request, 'office.csv': csv }, ...RUN, '--mode', mode);
      expect(code).toBe(2);
      expect(stderr).toMatch(
        /Resample makes at least 4,102,444,\d{3} samples, over the limit of 100,000,000; take a longer/,
      );
    }
  });

  it('that exceeds --max-output-samples, also over many chunks', async () => {
    const request = requestText('Aggregate', { function: 'Max', interval: 'PT1M' });
    const limited = [...RUN, '--chunk', '1', '--max-output-samples', '2'];
    const { code, stderr } = await runWith({ 'request.json': request }, ...limited);
    expect(code).toBe(2);
    expect(stderr).toContain('/0/operations/0: Aggregate makes at least 3 samples, over the limit of 2; take a longer');
    expect(stderr).toContain('or raise --max-output-samples\n');
  });

  it('with more steps in a row than the stack holds', async () => {
    const at = (k: number) => [{ timeseriesId: 'office', metric: k === 0 ? 'Raw' : `Step${k}` }];
    const chain = (count: number) => {
      const operations = Array.from({ length: count }, (_, k) => {
        return { operation: 'Mul', input: at(k), output: at(k + 1), parameters: { scalar: 1 } };
      });
      return JSON.stringify([{ metric: `Step${count}`, processingType: 'batch', operations }]);
    };
    const world = createWorld();
    world.write('office.csv', minutesCsv([1, 2, 3]));
    world.write('request.json', chain(1000));
    expect((await world.run(...RUN)).code).toBe(0);
    const { code, stderr } = await runWith({ 'request.json': chain(4000) }, ...RUN);
    expect(code).toBe(2);
    expect(stderr).toContain('/0/operations/1000: expected at most 1000 steps, each of which reads the one before');
  });

  it('which is not for steps that give no more samples than they take', async () => {
    const world = createWorld();
    world.write('request.json', requestText('Mul', { scalar: 2 }));
    world.write('office.csv', minutesCsv([1, 2, 3]));
    for (const mode of ['batch', 'stream']) {
      const { code, stdout } = await world.run(...RUN, '--mode', mode, '--max-output-samples', '2');
      expect(code).toBe(0);
      expect(stdout.split('\n')).toHaveLength(5);
    }
    // In memory, and over the members of a pattern.
    world.write('request.json', requestText('Mul', { scalar: 2 }).replaceAll('"office"', '"*"'));
    world.write('office.csv', 'timestamp,a,b\n2024-01-01T01:00:00Z,1,2\n2024-01-01T00:00:00Z,3,4\n');
    expect((await world.run(...RUN, '--max-output-samples', '3')).code).toBe(0);
  });
});

describe('input that cannot be read', () => {
  it.each([
    ['~/offce.csv', 2, '~/offce.csv: no such file; did you mean `office.csv`?'],
    ['~/', 2, '~/: is a folder, expected a file'],
    ['~/office.csv/x.csv', 2, '~/office.csv/x.csv: no such file'],
  ])('%s', async (path, code, message) => {
    expect(await runWith({}, 'run', '~/request.json', '--input', path)).toEqual({
      code,
      stdout: '',
      stderr: `windrow: ${message}\n`,
    });
  });

  it.each([
    ['empty', '', 'office.csv: the file is empty; expected a header such as `timestamp,value`'],
    ['binary', Uint8Array.from({ length: 4000 }, (_, i) => (i * 7919) & 255), 'office.csv'],
    [
      'without a time column',
      'when,value\n1,2\n',
      'office.csv, line 1: the header has no time column: it has when, value',
    ],
    [
      'with a bad time',
      'timestamp,value\n2024-01-01,1\n2024-02-30,2\n',
      'office.csv, line 3, column 1 (timestamp): "2024-02-30" has the day 30, which its month lacks',
    ],
    [
      'with a bad number',
      'timestamp,value\n2024-01-01,1,\n2024-01-02,2.0.0\n'.replace('1,\n', '1\n'),
      'office.csv, line 3, column 2 (value): "2.0.0" is not a number; expected a decimal',
    ],
  ])('a file %s', async (_, content, message) => {
    const { code, stderr } = await runWith({ 'office.csv': content }, ...RUN);
    expect(code).toBe(1);
    expect(stderr).toContain(`windrow: ~/${message}`);
    expect(stderr).not.toContain('    at ');
  });

  it('a gzip file that is empty', async () => {
    const { code, stderr } = await runWith(
      { 'office.csv.gz': '' },
      'run',
      '~/request.json',
      '--input',
      '~/office.csv.gz',
    );
    const reason = 'cannot be decompressed (the file is empty)';
    expect([code, stderr]).toEqual([1, `windrow: ~/office.csv.gz: ${reason}; is it a complete gzip file?\n`]);
  });

  it('a gzip file that is truncated, not gzip at all, or goes on behind zeros', async () => {
    const whole = gzipSync(minutesCsv(Array.from({ length: 999 }, (_, i) => i)));
    const files = {
      'cut.csv.gz': whole.subarray(0, whole.length / 2),
      'plain.csv.gz': minutesCsv([1]),
      'gap.csv.gz': Buffer.concat([whole, Buffer.alloc(512), gzipSync('2031-01-01T00:00:00Z,1\n')]),
    };
    for (const name of Object.keys(files)) {
      const { code, stderr } = await runWith(files, 'run', '~/request.json', '--input', `~/${name}`);
      expect(code).toBe(1);
      expect(stderr).toMatch(
        new RegExp(`^windrow: ~/${name}: cannot be decompressed .*; is it a complete gzip file\\?\n$`),
      );
    }
  });
});

describe('a series that the input lacks', () => {
  it('is named together with the series of the input and the nearest name', async () => {
    const csv = 'timestamp,boiler,ofice,chiller\n2024-01-01,1,2,3\n';
    const { code, stderr } = await runWith({ 'wide.csv': csv }, 'run', '~/request.json', '--input', '~/wide.csv');
    expect(code).toBe(2);
    expect(stderr).toBe(`windrow: the request reads 1 series that is not in the input:
  office/Raw: did you mean \`ofice/Raw\`?
the input has boiler/Raw, ofice/Raw, chiller/Raw
`);
  });

  it('may have another metric', async () => {
    const csv = 'timestamp,timeseriesId,metric,value\n2024-01-01,office,Temperature,3\n';
    const { stderr } = await runWith({ 'long.csv': csv }, 'run', '~/request.json', '--input', '~/long.csv');
    expect(stderr).toContain('office/Raw: that series has the metric `Temperature`\n');
  });

  it('may be the name of its file', async () => {
    const { stderr } = await runWith({ 'x.csv': minutesCsv([1]) }, 'run', '~/request.json', '--input', '~/x.csv');
    expect(stderr).toContain('office/Raw: if x/Raw is what it means, say --as office\n');
    expect(stderr).toContain('the input has x/Raw\n');
  });
});

describe('wrong arguments', () => {
  it.each([
    [['rnu'], 'windrow: unknown command rnu; did you mean run?\n'],
    [['nosuch'], 'windrow: unknown command nosuch; see `windrow --help`\n'],
    [['--nothing'], 'windrow: unknown option --nothing; see `windrow --help`\n'],
    [['help', 'rnu'], 'windrow: unknown command rnu; did you mean run?\n'],
    [['client', 'adl'], 'windrow: client: unknown command adl; did you mean add?\n'],
    [['client', 'nosuch'], 'windrow: client: unknown command nosuch; see `windrow client --help`\n'],
    [['run', '--inptu', 'x'], 'windrow: run: unknown option --inptu; did you mean --input?\n'],
    [['run', '--bad=skip'], 'windrow: run: unknown option --bad=skip; did you mean --on-bad-row?\n'],
    [['run', '--max'], 'windrow: run: unknown option --max; did you mean --max-output-samples?\n'],
    [['run', '--nothing'], 'windrow: run: unknown option --nothing; see `windrow run --help`\n'],
    [['run', '~/request.json', '--input'], 'run: expected --input FILE..., received nothing; see `windrow run --help`'],
    [['run', '~/r.json', 'more', '--input', 'x'], 'run: expected 1 argument, received 2; see `windrow run --help`'],
    [['run', '--input', '~/office.csv'], 'run: expected REQUEST.json, received nothing; see `windrow run --help`'],
    [['run', '--input', '~/office.csv', '~/request.json'], 'write it before --input, which takes all words after it'],
    [
      ['plot', '--series', 'office/Raw', '~/office.csv'],
      'plot: expected FILE, received nothing; write it before --series, which takes all words after it',
    ],
    [['run', '~/request.json'], 'run: expected --input FILE, received nothing'],
    [[...RUN, '--mode', 'fast'], '--mode: expected batch or stream, received "fast"'],
    [[...RUN, '--chunk', '0'], '--chunk: expected a whole number of at least 1, received "0"'],
    [[...RUN, '--threads', 'two'], '--threads: expected a whole number of at least 1, received "two"'],
    [[...RUN, '--on-bad-row', 'ignore'], '--on-bad-row: expected fail or skip, received "ignore"'],
    [
      [...RUN, '--mode', 'stream', '--lateness', '5m'],
      '--lateness: expected an ISO 8601 duration like PT5M, received "5m"',
    ],
    [[...RUN, '--lateness', 'PT5M'], '--lateness: expected only with --mode stream'],
    [
      [...RUN, '--timezone', 'Mars/Olympus'],
      '--timezone: expected an IANA time zone like Europe/Berlin, received "Mars/Olympus"',
    ],
    [[...RUN, '--from', 'yesterday'], '--from: expected an ISO 8601 instant'],
    [[...RUN, '--from', '2025-01-01', '--until', '2024-01-01'], '--until: expected an instant after from'],
    [['run', 'until', '--input', '~/office.csv'], 'windrow: until: no such file'],
    [[...RUN, '--warmup', 'P1D'], 'add --from TIME'],
    [[...RUN, '--from', '2025-01-01', '--warmup', '1d'], '--warmup: expected an ISO 8601 duration like P1D, or all'],
    [[...RUN, '--from', '2025-01-01', '--warmup', 'P1D', '--mode', 'stream'], 'leave --mode stream out'],
    [[...RUN, '--output', '~/office.csv'], '--output: ~/office.csv is read by this run; write to another file'],
    [[...RUN, '--report', '~/x', '--plot', '~/x'], '--plot: ~/x is written by --report already; write to another file'],
    [[...RUN, '--report', '-'], '--report: expected a file, received `-`: standard output is for the results'],
    [[...RUN, '--output', '~/no/out.csv'], '~/no/out.csv: its folder does not exist; create it first'],
    [
      [...RUN, '--output', '~/office.csv/out.csv'],
      '~/office.csv/out.csv: what should be its folder is a file; give another name',
    ],
    [[...RUN, '--output', '~/'], '~/: is a folder, expected the name of a file to write'],
    [[...RUN, '--output', '~/new/'], '~/new/: ends as a folder does, expected the name of a file to write'],
    [['run', '-', '--input', '-'], 'expected standard input for the request or for --input, received it for both'],
    [['why', '-', '--input', '-', '--series', 'a/b', '--at', '0'], 'why: expected standard input for the request or'],
    [['verify', '-', '--input', '-'], 'verify: expected standard input for the request or for --input, received it'],
    [['diff', '-', '-', '--input', 'x'], 'diff: expected standard input for OLD.json or for NEW.json, received it for'],
    [
      ['diff', '~/request.json', '-', '--input', '-'],
      'diff: expected standard input for NEW.json or for --input, received it for both',
    ],
    [['run', '~/request.json', '--input', '-', '-'], '--input: expected `-` (standard input) once, received it twice'],
    [['check', '~/none'], '~/none: there is no store of windrow; check the directory'],
    [
      ['serve', '--data-dir', '~/data', '--token-lifetime', '3153600001'],
      '--token-lifetime: expected a whole number from 1 to 3153600000, received "3153600001"',
    ],
    [['check', ''], 'check: expected DIR, received an empty text; see `windrow check --help`'],
    [['backup', '~/none', '--to', '~/b.db'], '~/none: there is no store of windrow; check the directory'],
    [['restore', '~/none.db', '--to', '~/data'], '~/none.db: there is no such file'],
    [
      ['restore', '~/', '--to', '~/data'],
      '~/: it is a folder, expected a file; give a file that `windrow backup` made',
    ],
    [
      ['restore', '~/office.csv', '--to', '~/office.csv'],
      '~/office.csv: it is a file, expected a folder; give another name',
    ],
    [
      ['restore', '~/office.csv', '--to', '~/office.csv/data'],
      '~/office.csv/data: what should be its folder is a file; give another name',
    ],
    ...(['', ' postgres://db/windrow'] as const).flatMap((address): [string[], string][] => [
      [
        `check --store${address}`.split(' '),
        "check: unknown option '--store': expected a data directory; a store in PostgreSQL is checked with pg_amcheck",
      ],
      [
        `backup --store${address}`.split(' '),
        "backup: unknown option '--store': expected a data directory; a store in PostgreSQL is copied with pg_base",
      ],
    ]),
    [
      ['operations', 'Agregate'],
      'operations: expected the name of an operation, received Agregate; did you mean `Aggregate`?',
    ],
    [
      ['plot', '~/office.csv', '--series', 'offise'],
      '--series: expected a series of the file, received offise; did you mean',
    ],
  ])('%s', async (words, message) => {
    const { code, stderr } = await runWith({}, ...words);
    expect(stderr).toMatch(/^windrow: /);
    expect(stderr).toContain(message);
    expect(code).toBe(2);
    expect(stderr).not.toContain('    at ');
  });
});
