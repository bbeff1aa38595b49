// What a run writes besides its results, and that each output appears completely or not at all.
import * as nodeFs from 'node:fs';
import { lstatSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { constants } from 'node:os';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createWorld, minutesCsv, requestText, type World, type WorldOptions } from './world.js';

const RUN = ['run', '~/request.json', '--input', '~/office.csv'];

function doubling(options: WorldOptions = {}, count = 3): World {
  const world = createWorld(options);
  world.write('request.json', requestText('Mul', { scalar: 2 }));
  world.write('office.csv', minutesCsv(Array.from({ length: count }, (_, i) => i)));
  return world;
}

const NO_SPACE = { code: 'ENOSPC', errno: -constants.errno.ENOSPC, syscall: 'write' };
/** As Node tells of a used-up quota. */
const NO_QUOTA = {
  code: `Unknown system error -${constants.errno.EDQUOT}`,
  errno: -constants.errno.EDQUOT,
  syscall: 'write',
};

/** `node:fs` on a disk with `roomBytes` of free space. */
function smallDisk(roomBytes: number, full = NO_SPACE): WorldOptions['fs'] {
  let written = 0;
  const writeSync = (descriptor: number, bytes: Uint8Array, offset: number, length: number): number => {
    const count = Math.min(length, roomBytes - written);
    if (count <= 0) throw Object.assign(new Error(`${full.code}: write`), full);
    written += count;
    return nodeFs.writeSync(descriptor, bytes, offset, count);
  };
  return { writeSync: writeSync as typeof nodeFs.writeSync };
}

describe('outputs of a run', () => {
  it('the report accounts for every row and sample', async () => {
    const world = doubling();
    world.write('office.csv', minutesCsv([1, '', 3, 3]).replace('00:03:00', '00:02:00'));
    await world.run(...RUN, '--report', '~/report.json', '--quiet');
    const report = JSON.parse(world.read('report.json'));
    const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
    const office = { timeseriesId: 'office', metric: 'Raw' };
    expect(report).toEqual({
      version: manifest.version,
      mode: 'batch',
      timezone: 'UTC',
      seconds: 0,
      rows: 4,
      rowsPerSecond: 4_000_000,
      isSortedInMemory: false,
      files: [
        {
          path: world.path('office.csv'),
          layout: 'single',
          rows: 4,
          dropped: { rejected: 0 },
          missing: 1,
          series: [{ ...office, samples: 4 }],
        },
      ],
      sources: [
        { ...office, samplesIn: 4, samplesOut: 2, dropped: { missing: 1, outOfRun: 0, duplicate: 1, late: 0 } },
      ],
      steps: [
        {
          pointer: '/0/operations/0',
          operation: 'Mul',
          output: { timeseriesId: 'office', metric: 'Result' },
          samplesIn: 2,
          samplesOut: 2,
          dropped: { nonFinite: 0, outOfRange: 0, unmatched: [0, 0], duplicate: 0, insufficient: 0 },
        },
      ],
      results: [{ timeseriesId: 'office', metric: 'Result', samples: 2 }],
    });
  });

  it('a file whose name says that it is compressed is not written, as its content would not be', async () => {
    for (const [flag, name] of [
      ['--output', 'out.csv.gz'],
      ['--output', 'out.parquet.ZST'],
      ['--report', 'report.json.gz'],
    ] as const) {
      const world = doubling();
      const { code, stderr } = await world.run(...RUN, flag, `~/${name}`);
      const [, ending] = name.match(/(\.\w+)$/)!;
      expect(stderr).toContain(
        `${name}: expected a name without ${ending}, as windrow does not compress what it writes`,
      );
      expect(code).toBe(2);
      expect(world.files()).toEqual(['office.csv', 'request.json']);
    }
  });

  it('the chart is an SVG', async () => {
    const world = doubling();
    await world.run(...RUN, '--plot', '~/chart.svg');
    expect(world.read('chart.svg')).toMatch(
      /^<svg xmlns="http:\/\/www.w3.org\/2000\/svg"[\s\S]*office\/Result[\s\S]*<\/svg>\n$/,
    );
  });

  it('a failed run leaves earlier files as they were, and no others', async () => {
    const world = doubling();
    world.write('out.csv', 'before');
    world.write('office.csv', minutesCsv([1, 2, 'x']));
    const all = ['--output', '~/out.csv', '--report', '~/r.json', '--plot', '~/p.svg', '--rejects', '~/bad.csv'];
    expect((await world.run(...RUN, ...all)).code).toBe(1);
    expect(world.read('out.csv')).toBe('before');
    expect(world.files()).toEqual(['office.csv', 'out.csv', 'request.json']);
  });

  it.each([
    [NO_SPACE, 'the disk is full (ENOSPC)'],
    [NO_QUOTA, 'the quota of this user is used up (EDQUOT)'],
  ])('a full disk is reported, and nothing is left behind: $code', async (full, problem) => {
    const world = doubling({ fs: smallDisk(2000, full) }, 1000);
    const { code, stderr } = await world.run(...RUN, '--output', '~/out.csv');
    expect(code).toBe(1);
    expect(stderr).toBe(`windrow: ~/out.csv: ${problem}; free some space, or write elsewhere\n`);
    expect(world.files()).toEqual(['office.csv', 'request.json']);
  });

  it('too many open files are told as such, and nothing is left behind', async () => {
    const openSync = (path: nodeFs.PathLike, flags: nodeFs.OpenMode = 'r', mode?: nodeFs.Mode | null): number => {
      if (flags === 'r') return nodeFs.openSync(path, flags, mode);
      throw Object.assign(new Error('EMFILE: open'), { code: 'EMFILE', syscall: 'open' });
    };
    const world = doubling({ fs: { openSync } });
    const { code, stderr } = await world.run(...RUN, '--output', '~/out.csv');
    expect(code).toBe(1);
    const mend = 'raise the limit (ulimit -n), or run fewer items at once';
    expect(stderr).toBe(`windrow: ~/out.csv: too many files are open (EMFILE); ${mend}\n`);
    expect(world.files()).toEqual(['office.csv', 'request.json']);
  });

  it('Ctrl-C leaves nothing, says so, and exits with 130; SIGTERM with 143, SIGHUP with 129', async () => {
    for (const [signal, code, cause] of [
      ['SIGINT', 130, 'Ctrl-C'],
      ['SIGTERM', 143, 'SIGTERM'],
      ['SIGHUP', 129, 'SIGHUP'],
    ] as const) {
      let world: World | undefined;
      // Standard input sends rows, then the signal comes.
      async function* stdin(): AsyncIterable<Uint8Array> {
        yield new TextEncoder().encode(minutesCsv(Array.from({ length: 50_000 }, (_, i) => i)));
        expect(world?.files()).toHaveLength(3);
        world?.interrupt(signal);
        // Nothing more comes, but the input does not end.
        await new Promise(() => {});
      }
      world = doubling({ stdin: stdin() });
      const words = ['run', '~/request.json', '--input', '-', '--output', '~/out.csv', '--mode', 'stream'];
      const ended = await world.run(...words);
      expect(ended).toEqual({ code, stdout: '', stderr: `windrow: stopped by ${cause}; no file was written\n` });
      expect(world.files()).toEqual(['office.csv', 'request.json']);
    }
  });

  it('Ctrl-C is heard between two reads of a file, however slow its rows are', async () => {
    let world: World | undefined;
    let readCount = 0;
    let nowMs = 0;
    const readSync = (...given: Parameters<typeof nodeFs.readSync>): number => {
      if (++readCount === 2) setImmediate(() => world?.interrupt('SIGINT'));
      nowMs += 1000;
      return nodeFs.readSync(...given);
    };
    world = doubling({ fs: { readSync: readSync as typeof nodeFs.readSync }, clock: () => nowMs }, 50_000);
    expect(await world.run(...RUN, '--output', '~/out.csv')).toMatchObject({ code: 130 });
    expect(world.files()).toEqual(['office.csv', 'request.json']);
  });

  it('a closed pipe ends the run quietly, and other files are kept', async () => {
    const closed = Object.assign(new Error('write EPIPE'), { code: 'EPIPE' });
    const world = doubling({
      onStdout: () => {
        throw closed;
      },
    });
    expect(await world.run(...RUN, '--report', '~/report.json')).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(world.files()).toContain('report.json');
  });

  it('a link stays a link, and a file keeps its permissions', async () => {
    const world = doubling();
    const umask = process.umask(0o077);
    onTestFinished(() => void process.umask(umask));
    nodeFs.chmodSync(world.write('real.csv', 'before'), 0o640);
    symlinkSync(world.path('real.csv'), world.path('link.csv'));
    await world.run(...RUN, '--output', '~/link.csv');
    expect(lstatSync(world.path('link.csv')).isSymbolicLink()).toBe(true);
    expect(world.read('real.csv')).toContain('office,Result,4');
    expect(statSync(world.path('real.csv')).mode & 0o777).toBe(0o640);
  });

  it('a link stays a link where its file is not there yet, and a circle of links is told', async () => {
    const world = doubling();
    nodeFs.mkdirSync(world.path('disk'));
    symlinkSync('disk/real.csv', world.path('link.csv'));
    symlinkSync(world.path('link.csv'), world.path('latest.csv'));
    await world.run(...RUN, '--output', '~/latest.csv');
    expect(lstatSync(world.path('latest.csv')).isSymbolicLink()).toBe(true);
    expect(world.read('disk/real.csv')).toContain('office,Result,4');
    symlinkSync('circle.csv', world.path('circle.csv'));
    const { code, stderr } = await world.run(...RUN, '--output', '~/circle.csv');
    expect([code, stderr]).toEqual([1, 'windrow: ~/circle.csv: could not be written (ELOOP)\n']);
    expect(lstatSync(world.path('circle.csv')).isSymbolicLink()).toBe(true);
  });

  it('a name of 255 bytes is no longer than a file system takes', async () => {
    const world = doubling();
    const name = `${'ü'.repeat(125)}a.csv`;
    expect(await world.run(...RUN, '--output', `~/${name}`, '--quiet')).toMatchObject({ code: 0, stderr: '' });
    expect(world.read(name)).toContain('office,Result,4');
  });

  it('many results are kept in separate files while others come', async () => {
    const world = doubling({}, 100_000);
    const items = ['A', 'B', 'C'].map((metric) => JSON.parse(requestText('Mul', { scalar: 2 }, metric))[0]);
    world.write('request.json', JSON.stringify(items));
    const { stdout } = await world.run(...RUN, '--chunk', '1000');
    await world.run(...RUN, '--output', '~/out.csv');
    expect(world.read('out.csv') === stdout).toBe(true);
    const metrics = stdout
      .trim()
      .split('\n')
      .slice(1)
      .map((row) => row.split(',')[2]);
    expect(metrics.join('')).toBe('A'.repeat(100_000) + 'B'.repeat(100_000) + 'C'.repeat(100_000));
    expect(world.files()).toEqual(['office.csv', 'out.csv', 'request.json']);
  });
});

it('never writes over its input through a link', async () => {
  const world = doubling();
  const csv = world.read('office.csv');
  symlinkSync(world.path('office.csv'), world.path('link.csv'));
  const ended = await world.run(...RUN, '--output', '~/link.csv');
  expect(ended.code).toBe(2);
  expect(ended.stderr).toContain('is read by this run');
  expect(world.read('office.csv')).toBe(csv);
});

it.each([
  ['office.csv', '--output', ['plot', '~/office.csv']],
  ['request.json', '--graph', ['explain', '~/request.json']],
])('never draws over the file that is drawn: %s', async (name, flag, words) => {
  const world = doubling();
  const text = world.read(name);
  symlinkSync(world.path(name), world.path('link.svg'));
  for (const given of [name, 'link.svg']) {
    const stderr = `windrow: ${flag}: ~/${given} is read by this run; write to another file\n`;
    expect(await world.run(...words, flag, `~/${given}`)).toEqual({ code: 2, stdout: '', stderr });
  }
  expect(world.read(name)).toBe(text);
});

it('takes plain digits as --from for epoch seconds or milliseconds, as in a file', async () => {
  const world = doubling();
  const [, first = ''] = world.read('office.csv').split('\n');
  const nextMs = Date.parse(first.split(',')[0] ?? '') + 60_000;
  for (const from of [nextMs, nextMs / 1000]) {
    const ended = await world.run(...RUN, '--from', String(from));
    expect(ended.stdout.trim().split('\n')).toHaveLength(3);
  }
});

it('takes eight digits as --from and --until for a date, as in a file', async () => {
  const world = doubling();
  world.write('office.csv', 'timestamp,value\n20240330,1\n20240331,2\n20240401,3\n');
  for (const [from, until] of [
    ['20240331', '20240401'],
    ['2024-03-31', '2024-04-01'],
  ] as const) {
    const ended = await world.run(...RUN, '--from', from, '--until', until, '--timezone', 'Europe/Berlin');
    expect(ended.stdout.trim().split('\n').slice(1)).toEqual(['2024-03-30T23:00:00.000Z,office,Result,4']);
  }
});

it.skipIf(process.platform !== 'linux')('a run that fails leaves no device open', async () => {
  const world = doubling();
  world.write('office.csv', 'timestamp,value\nnoon,1\n');
  const openCount = () => readdirSync('/proc/self/fd').length;
  const before = openCount();
  for (let run = 0; run < 20; run++) {
    expect(await world.run(...RUN, '--output', '/dev/null')).toMatchObject({ code: 1 });
  }
  expect(openCount()).toBeLessThan(before + 10);
});
