import { describe, expect, it } from 'vitest';
import { createWorld, minutesCsv, requestText } from './world.js';

function drawn() {
  const world = createWorld();
  world.write('request.json', requestText('Mul', { scalar: 2 }));
  world.write('office.csv', minutesCsv([1, 2, 3]));
  const bytes = (name: string): Buffer => Buffer.from(world.read(name), 'utf8');
  const isPng = (name: string): boolean => bytes(name).toString().includes('PNG') && !world.read(name).includes('<svg');
  return { world, isPng };
}

describe('pictures', () => {
  it.each([
    ['plot', '~/office.csv', '--output', '~/chart.PNG'],
    ['run', '~/request.json', '--input', '~/office.csv', '--plot', '~/chart.PNG', '--quiet'],
    ['explain', '~/request.json', '--graph', '~/chart.PNG'],
  ])('are PNG if the name ends in .png: %s', async (...words) => {
    const { world, isPng } = drawn();
    expect(await world.run(...words)).toMatchObject({ code: 0, stderr: '' });
    expect(isPng('chart.PNG')).toBe(true);
  });

  it.each([
    ['plot', '~/office.csv', '--output', '~/chart.jpg'],
    ['run', '~/request.json', '--input', '~/office.csv', '--plot', '~/chart.jpg'],
    ['explain', '~/request.json', '--graph', '~/chart.jpg'],
  ])('are refused with a name of another format: %s', async (...words) => {
    const { world } = drawn();
    const { code, stderr } = await world.run(...words);
    expect(stderr).toBe(`windrow: ${words.at(-2)}: expected a name that ends in .svg or .png, received ~/chart.jpg\n`);
    expect(code).toBe(2);
    expect(world.files()).toEqual(['office.csv', 'request.json']);
  });

  it('are the same of every format', async () => {
    const { world } = drawn();
    const drawnOf = async (name: string, ...words: string[]): Promise<string> => {
      const { code, stdout, stderr } = await world.run('plot', `~/${name}`, ...words);
      expect([code, stderr.replace(/^.*times in epoch nanoseconds\n$/, '')]).toEqual([0, '']);
      return stdout;
    };
    for (const name of ['out.csv', 'out.ndjson', 'out.parquet', 'out.arrow']) {
      await world.run('run', '~/request.json', '--input', '~/office.csv', '--output', `~/${name}`, '--quiet');
    }
    const expected = await drawnOf('out.csv');
    expect(expected).toContain('office/Result');
    for (const name of ['out.ndjson', 'out.parquet', 'out.arrow']) expect(await drawnOf(name)).toBe(expected);
    const at = Date.UTC(2024, 2, 1) * 1e6;
    world.write('lines', [2, 4, 6].map((value, i) => `office Result=${value} ${at + i * 60e9}\n`).join(''));
    expect(await drawnOf('lines', '--format', 'line-protocol')).toBe(expected);
    const lacking = await world.run('plot', '~/out.parquet', '--series', 'offic');
    expect(lacking).toMatchObject({ code: 2, stderr: expect.stringContaining('did you mean `office`?') });
  });

  it('draw a pipeline', async () => {
    const { world } = drawn();
    expect(await world.run('explain', '~/request.json', '--graph', '~/g.svg')).toMatchObject({ code: 0, stdout: '' });
    const { stdout: plan } = await world.run('explain', '~/request.json', '--json');
    const both = await world.run('explain', '~/request.json', '--json', '--graph', '~/both.svg');
    expect(both).toMatchObject({ code: 0, stdout: plan });
    expect(world.read('both.svg')).toBe(world.read('g.svg'));
    expect(await world.run('explain', '~/request.json', '--json', '--graph', '-')).toMatchObject({
      code: 2,
      stdout: '',
      stderr: 'windrow: --graph: expected a file, received `-`: standard output is for the plan\n',
    });
    expect(world.read('g.svg')).toMatch(/^<svg [\s\S]*office\/Raw[\s\S]*each value times 2[\s\S]*office\/Result/);
  });

  it('draw values whose range is more than a double holds', async () => {
    const world = createWorld();
    world.write('a.csv', 'timestamp,value\n2024-03-01,-1.7e308\n2024-03-02,0\n2024-03-03,1.7e308\n');
    const drawn = await world.run('plot', '~/a.csv');
    expect(drawn).toMatchObject({ code: 0, stderr: '' });
    expect(drawn.stdout.match(/\S+(?= ┤)/g)).toEqual(['1e308', '0', '−1e308']);
    expect(await world.run('plot', '~/a.csv', '--output', '~/a.svg')).toMatchObject({ code: 0 });
    expect(world.read('a.svg')).not.toMatch(/NaN|Infinity/);
  });

  it('leave out text columns, and say so', async () => {
    const { world } = drawn();
    const rows = ['timestamp,note,temp,door', '2024-03-01T00:00Z,,20,open', '2024-03-01T01:00Z,cold,19,shut', ''];
    world.write('house.csv', rows.join('\n'));
    const { code, stdout, stderr } = await world.run('plot', '~/house.csv', '--output', '-');
    expect({ code, stderr }).toEqual({ code: 0, stderr: 'windrow: ~/house.csv: texts left out: note, door\n' });
    expect(stdout).toContain('temp/Raw: 2 samples from 19 to 20');
    const asked = await world.run('plot', '~/house.csv', '--series', 'note');
    expect(asked.stderr).toContain('"cold" is not a number');
    world.write('texts.csv', rows.map((row) => row.split(',').slice(0, 2).join(',')).join('\n'));
    const none = await world.run('plot', '~/texts.csv');
    expect(none.stderr).toContain(
      'the column note holds texts; expected numbers, or the option states (--states on=1 off=0)',
    );
  });
});
