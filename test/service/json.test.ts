import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { decodeParts, parseInTurn } from '../../src/service/http/bodies.js';
import { ServiceError } from '../../src/service/http/errors.js';
import { describeLineFault, JsonIssueError, parseJson, parseJsonBody } from '../../src/service/http/json.js';
import { BodyMemory } from '../../src/service/http/whole-body.js';
import { turnsDuring } from './turns-during.js';

const spaces = fc.constantFrom('', ' ', '\n', '\t \r\n');
const text = fc
  .tuple(fc.array(fc.jsonValue(), { maxLength: 30 }), fc.constantFrom(0, 1, 4), spaces, spaces)
  .map(([value, indent, before, after]) => `${before}${JSON.stringify(value, null, indent)}${after}`);

async function errorOf(body: string, sliceChars?: number): Promise<ServiceError> {
  const told: unknown = await parseJsonBody(body, sliceChars).catch((error: unknown) => error);
  if (told instanceof ServiceError) return told;
  throw new Error(`expected an error, received ${JSON.stringify(told)}`);
}

describe('a JSON body', () => {
  it('is parsed like JSON.parse does, however it is sliced', async () => {
    await fc.assert(
      fc.asyncProperty(text, fc.integer({ min: 1, max: 40 }), async (body, sliceChars) => {
        expect(await parseJsonBody(body, sliceChars)).toEqual(JSON.parse(body));
      }),
      { numRuns: 2000 },
    );
    for (const value of [{}, 'a,b', 5, null, { a: [1, 2, 3], b: { c: '[,]' } }, [], [[]], [{}, {}]]) {
      expect(await parseJsonBody(JSON.stringify(value), 1)).toEqual(value);
    }
  });

  it('that is truncated or damaged anywhere is refused with its place, however it is sliced', async () => {
    await fc.assert(
      fc.asyncProperty(text, fc.nat(), fc.constantFrom('', ',', ']', '}', '"', 'x', ':'), async (body, at, put) => {
        const bad = body.slice(0, at % body.length) + put;
        fc.pre(!isJson(bad));
        const whole = await errorOf(bad);
        expect([whole.statusCode, whole.message]).toEqual([400, expect.stringMatching(/^the body is not JSON: line /)]);
        expect((await errorOf(bad, 7)).message).toMatch(/^the body is not JSON: line /);
      }),
      { numRuns: 2000 },
    );
    const lines = `[${Array.from({ length: 100 }, (_, i) => `{"a":${i}}`).join(',\n')},\n{"a" 5}]`;
    expect((await errorOf(lines, 50)).message).toMatch(/^the body is not JSON: line 101, column 6: expected `:` after/);
  });

  it('with a repeated key is refused with its pointer, since readers differ in which one counts', async () => {
    for (const [body, pointer] of [
      ['[{"id":1,"id":2}]', '/0/id'],
      ['[{"id":1},{"a":{"b":[0,{"c":1,"d":{},"c":1}]}}]', '/1/a/b/1/c'],
      ['{"a/b":1,"x":"a/b","a/b":{}}', '/a~1b'],
      ['[{"a":1 ,"\\u0061" : 2}]', '/0/a'],
      ['{"__proto__":1,"__proto__":2}', '/__proto__'],
      [`[${'{"a":"\\":,{[","b":[]},'.repeat(50)}{"b":1,"b":1}]`, '/50/b'],
    ] as const) {
      for (const sliceChars of [1, 20, undefined]) {
        const { statusCode, message, details } = await errorOf(body, sliceChars);
        expect([body, statusCode]).toEqual([body, 400]);
        expect(message).toMatch(/: expected each key of an object once, received ".+" twice; nothing was stored$/);
        expect(details).toMatchObject({ issues: [{ pointer, code: 'request.json' }] });
      }
    }
  });

  it('with a number beyond a double is refused with its pointer', async () => {
    for (const [body, pointer] of [
      ['1e400', ''],
      ['[1,{"val":-1e999}]', '/1/val'],
      [`[${'{"val":1},'.repeat(50)}{"val":1e400}]`, '/50/val'],
    ] as const) {
      for (const sliceChars of [1, undefined]) {
        const { statusCode, details } = await errorOf(body, sliceChars);
        expect([body, statusCode]).toEqual([body, 400]);
        expect(details).toMatchObject({ issues: [{ pointer, expected: 'a number within the range of a double' }] });
      }
    }
    expect(() => parseJson('{"a":[1e400]}')).toThrow(JsonIssueError);
    expect(await parseJsonBody('[1e308,-1e-400,0.1]')).toEqual([1e308, -0, 0.1]);
  });

  it('is parsed in slices with pauses between them, unless it has no comma to slice at', async () => {
    const values = Array.from({ length: 200_000 }, (_, i) => ({ a: i, b: 'x' }));
    const { turnCount, result } = await turnsDuring(() => parseJsonBody(JSON.stringify(values)));
    expect(result).toEqual(values);
    expect(turnCount).toBeGreaterThan(10);
    const { statusCode, message } = await errorOf(`["${'x'.repeat(2_000_000)}"]`);
    expect([statusCode, message]).toEqual([413, expect.stringMatching(/^element 0 of the body.*send it in parts$/)]);
    expect((await errorOf(`{"a":"${'x'.repeat(2_000_000)}"}`)).statusCode).toBe(413);
    expect((await errorOf('['.repeat(300) + ']'.repeat(300))).message).toBe(
      'the body: expected values nested at most 256 deep',
    );
  });
});

it('a long body is decoded piece by piece, also where a piece ends within a character', async () => {
  for (const before of ['', 'x', 'xx', 'xxx']) {
    const body = `\uFEFF${before}${'😀'.repeat(600_000)}`;
    const bytes = Buffer.from(body);
    const cut = [bytes.subarray(0, 1_000_001), bytes.subarray(1_000_001)];
    expect((await decodeParts(cut)) === body.slice(1)).toBe(true);
    const refused = decodeParts([...cut, Uint8Array.of(0xff)]);
    await expect(refused).rejects.toMatchObject({ statusCode: 400, message: expect.stringContaining('not UTF-8') });
  }
});

function isJson(body: string): boolean {
  try {
    JSON.parse(body);
    return true;
  } catch {
    return false;
  }
}

it('a line that is not JSON is told of with the column and what is expected there', () => {
  expect(describeLineFault('{"val":NaN}')).toMatch(
    /^`NaN` in column 8, where a value is expected; JSON has true, false, null and finite numbers$/,
  );
  expect(describeLineFault('{"a":1,}')).toContain('`}` in column 8, where a field name in double quotes is expected');
  expect(describeLineFault('{"a":1}')).toBeUndefined();
  expect(describeLineFault(`{"a":"${'x'.repeat(300_000)}",}`)).toContain('`}` in column 300009, where a field name');
});

it('the place of a fault is right behind a text longer than a slice', async () => {
  const long = `"a":"${'x'.repeat(300_000)}"`;
  const faulty = `{${long},"b":NaN}`;
  const placed = (line: number, column: number) => `line ${line}, column ${column}: expected a value, received \`NaN\``;
  expect((await errorOf(`[${faulty}]`)).message).toContain(placed(1, 1 + faulty.length - 3));
  expect((await errorOf(`[{${long}},\n${faulty}]`)).message).toContain(placed(2, faulty.length - 3));
});

describe('JSON that takes many times its bytes', () => {
  it('is refused if an element has more different keys than a request needs', async () => {
    const members = (count: number, from = 0) =>
      Array.from({ length: count }, (_, i) => `"\\"k${from + i}:":{"from":${i}}`).join();
    const most = (place: string) => `${place}: expected at most 16384 different keys; send it in parts`;
    expect((await errorOf(`{${members(16_384)}}`)).message).toBe(most('a body that is not an array'));
    const element = 'element 1 of the body, or one soon after it';
    const first = `["${'x'.repeat(100_000)}",`;
    expect(await errorOf(`${first}{${members(16_384)}}]`)).toMatchObject({ statusCode: 413, message: most(element) });
    expect(() => parseJson(`{${members(16_384)}}`)).toThrow('expected at most 16384 different keys, received more');
    const objects = Array.from({ length: 4100 }, (_, i) => `{${members(4, 4 * i)}}`).join();
    expect((await errorOf(`${first}[${objects}]]`)).message).toBe(most(element));
    for (const body of [`${first}{${members(16_383)}}]`, `[[${'{"from":1,"until":2},'.repeat(40_000)}{}]]`]) {
      expect(await parseJsonBody(body)).toEqual(JSON.parse(body));
    }
  });

  it('is refused if it has an object or an array for fewer than 8 characters', async () => {
    for (const element of ['{}', '[]', '[[[[]]]]', '{"":{}}']) {
      const { statusCode, message } = await errorOf(`[${`${element},`.repeat(400_000)}1]`);
      expect([element, statusCode]).toEqual([element, 413]);
      expect(message).toMatch(/^the body: expected at most \d+ objects and arrays; send it in parts$/);
    }
    const samples = `[${'{"val":1,"timestamp":1},'.repeat(600_000)}{}]`;
    expect(await parseJsonBody(samples)).toHaveLength(600_001);
    expect(await parseJsonBody(`[${'[],'.repeat(60_000)}[]]`)).toHaveLength(60_001);
  });

  it('is parsed one large body at a time, while those of a megabyte go on', async () => {
    const running = { large: 0, medium: 0 };
    const most = { large: 0, medium: 0 };
    const ends: (() => void)[] = [];
    const parse = (size: 'large' | 'medium') =>
      parseInTurn(size === 'large' ? 2 ** 24 : 2 ** 20, async () => {
        most[size] = Math.max(most[size], ++running[size]);
        await new Promise<void>((resolve) => ends.push(resolve));
        running[size]--;
        return size;
      });
    const told = [...Array(20).fill('medium'), ...Array(20).fill('large')].map((size) => parse(size));
    const settled = Promise.all(told);
    for (let isDone = false; !isDone; ) {
      isDone = await Promise.race([settled.then(() => true), new Promise<false>((end) => setImmediate(end, false))]);
      for (const end of ends.splice(0)) end();
    }
    expect(most).toEqual({ large: 1, medium: 16 });
    expect(await settled).toEqual([...Array(20).fill('medium'), ...Array(20).fill('large')]);
  });

  it('counts in memory with those of all requests, until it is done with', () => {
    const bodies = Array.from({ length: 40 }, () => new BodyMemory());
    const releaseAll = (): void => {
      for (const body of bodies) body.release();
    };
    onTestFinished(releaseAll);
    const refused = bodies.filter((body) => {
      try {
        for (const megabytes of [1, 8, 16]) body.reach(megabytes * 2 ** 20);
        return false;
      } catch (error) {
        expect((error as ServiceError).statusCode).toBe(503); // `as`: what it throws
        return true;
      }
    });
    // Those that were refused keep what they had when there was no room for more, until they are released.
    expect(refused.length).toBeGreaterThanOrEqual(8);
    new BodyMemory().reach(64 * 1024);
    releaseAll();
    const last = new BodyMemory();
    last.reach(512 * 2 ** 20);
    expect(() => bodies[0]!.reach(2 ** 20)).toThrow('take too much memory');
    last.release();
  });
});
