import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { eventFieldNames, eventFields } from '../../../src/service/events/fields.js';
import { readJsonEvents, readNdjsonEvents } from '../../../src/service/events/read-events.js';
import { canonicalJson, completeEvents, recordJson } from '../../../src/service/events/record.js';
import { ServiceError } from '../../../src/service/http/errors.js';
import { postedEvents } from './posted.js';

interface Refusal {
  readonly statusCode: number;
  readonly message: string;
  readonly issues: readonly { pointer: string; line?: number; code: string; suggestion?: string }[];
  readonly issueCount: number;
}

async function refusalOf(reading: Promise<unknown>): Promise<Refusal> {
  try {
    await reading;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    // `as`: the details of this reader's errors
    const details = error.details as Pick<Refusal, 'issues' | 'issueCount'>;
    return { statusCode: error.statusCode, message: error.message, ...details };
  }
  throw new Error('nothing was refused');
}

const pointersOf = async (body: unknown, collection?: string) =>
  (await refusalOf(readJsonEvents(body, collection))).issues.map(({ pointer }) => pointer);

const record = async (body: unknown) => {
  const events = await completeEvents(await readJsonEvents(body, 'c'), () => 'made');
  return events.map((event) => JSON.parse(recordJson(event, eventFieldNames)));
};

describe('the fields of an event (interface 2.4)', () => {
  it('come back as posted, null if absent, occurredAt in UTC with milliseconds', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(postedEvents(), { minLength: 1, maxLength: 3 }), async (posted) => {
        const given = await record(posted.map((event, index) => ({ ...event, id: String(index) })));
        for (const [index, event] of given.entries()) {
          expect(Object.keys(event)).toEqual(eventFieldNames);
          const { checksum: _, ...shown } = event;
          const { checksum: __, ...expected } = { ...event, ...posted[index], id: String(index) };
          const { occurredAt } = posted[index] ?? {};
          const instant = typeof occurredAt === 'string' ? new Date(occurredAt).toISOString() : null;
          expect(shown).toEqual({ ...expected, occurredAt: instant, ercollectionid: 'c' });
        }
      }),
    );
  });

  it('have the types of the table', async () => {
    const wrong = { text: 5, boolean: 'true', number: '5', instant: 'yesterday', object: [] };
    for (const field of eventFieldNames) {
      expect(await pointersOf({ [field]: wrong[eventFields[field]] }, 'c')).toEqual([`/${field}`]);
      expect(await record({ [field]: null })).toHaveLength(1);
    }
  });

  it('accept any ISO 8601 instant, to the millisecond', async () => {
    const shown = async (occurredAt: string) => (await record({ occurredAt }))[0].occurredAt;
    expect(await shown('2024-01-31T13:00:00+01:00')).toBe('2024-01-31T12:00:00.000Z');
    expect(await shown('2024-01-31T12:00:00.1239999Z')).toBe('2024-01-31T12:00:00.123Z');
    expect(await shown('2024-01-31')).toBe('2024-01-31T00:00:00.000Z');
    expect(await shown('0001-01-01T00:00:00.5Z')).toBe('0001-01-01T00:00:00.500Z');
  });

  it('that are invalid are all reported at once, by JSON pointer', async () => {
    const body = [
      { id: 'a', name: 5, severty: 'high', latitude: '50', isUserEvent: 1 },
      'no event',
      { id: 'a', sourceEvent: { Type: 1, Other: {} }, 'a/b~c': 1, ercollectionid: 'other' },
      { id: '', occurredAt: '2024-02-30', eventDetails: [], ercollectionid: '' },
    ];
    const { statusCode, issues, issueCount, message } = await refusalOf(readJsonEvents(body, 'c'));
    expect(statusCode).toBe(400);
    expect(issues.map(({ pointer, code }) => `${pointer} ${code}`)).toEqual([
      '/0/severty request.unknown',
      '/0/name request.type',
      '/0/isUserEvent request.type',
      '/0/latitude request.type',
      '/1 request.type',
      '/2/a~1b~0c request.unknown',
      '/2/sourceEvent/Other request.unknown',
      '/2/sourceEvent/Type request.type',
      '/2/sourceEvent/Event request.missing',
      '/2/ercollectionid request.conflict',
      '/3/occurredAt request.instant',
      '/3/eventDetails request.type',
      '/3/id request.range',
      '/3/ercollectionid request.range',
      '/3/ercollectionid request.conflict',
    ]);
    expect(issues[0]?.suggestion).toBe('did you mean `severity`?');
    expect(issueCount).toBe(issues.length);
    expect(message).toMatch(/^\/0\/severty: .* and 14 more; nothing was stored$/);
  });

  it('name the collection there or in the header, and not two different ones', async () => {
    expect(await pointersOf({ id: 'a' })).toEqual(['/ercollectionid']);
    expect(await pointersOf({ ercollectionid: 'a' }, 'b')).toEqual(['/ercollectionid']);
    expect((await readJsonEvents({ ercollectionid: 'a' }, 'a'))[0]?.ercollectionid).toBe('a');
    expect(await readJsonEvents([{ ercollectionid: 'a' }, { ercollectionid: 'b' }], undefined)).toHaveLength(2);
  });

  it('hold only what can be stored: no NUL, half surrogates, endless nesting, infinities or huge values', async () => {
    const nested = (depth: number): object => (depth === 0 ? {} : { in: nested(depth - 1) });
    expect(await pointersOf({ name: 'a\0b', descr: '\ud800' }, 'c')).toEqual(['/name', '/descr']);
    expect(await record({ eventDetails: nested(63) })).toHaveLength(1);
    expect(await pointersOf({ eventDetails: nested(64) }, 'c')).toEqual(['/eventDetails']);
    expect(await pointersOf(JSON.parse('{"latitude":1e999,"eventDetails":{"a":[1e999]}}'), 'c')).toEqual([
      '/latitude',
      '/eventDetails',
    ]);
    expect(await pointersOf({ id: 'x'.repeat(257) }, 'c')).toEqual(['/id']);
    expect(await pointersOf({ descr: 'x'.repeat(65_537) }, 'c')).toEqual(['']);
    expect(await pointersOf(JSON.parse('{"__proto__":{"name":"x"}}'), 'c')).toEqual(['/__proto__']);
  });

  it('of one (collection, id) occur once in a body', async () => {
    const issues = await pointersOf([{ id: 'a' }, { id: 'b' }, { id: 'a' }], 'c');
    expect(issues).toEqual(['/2/id']);
    expect(await readJsonEvents([{ name: 'x' }, { name: 'x' }], 'c')).toHaveLength(2);
  });
});

describe('the body of POST /core/events', () => {
  it('is an event, an array of events or one event per line, with the same meaning', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(postedEvents(), { minLength: 1, maxLength: 4 }), async (posted) => {
        const lines = posted.map((event) => `${JSON.stringify(event)}\r\n`).join('\n');
        expect(await readNdjsonEvents(lines, 'c')).toEqual(await readJsonEvents(posted, 'c'));
        expect(await readJsonEvents(posted[0], 'c')).toEqual(await readJsonEvents(posted.slice(0, 1), 'c'));
      }),
    );
  });

  it('as lines is refused by line, in their order', async () => {
    const body = '{"id":"a"}\n\n{"id":5}\n{"id":\n{"id":"a"}\n{"id":"b","x":1}\n';
    const { issues } = await refusalOf(readNdjsonEvents(body, 'c'));
    expect(issues.map(({ line, pointer, code }) => [line, pointer, code])).toEqual([
      [3, '/id', 'request.type'],
      [4, '', 'request.json'],
      [5, '/id', 'request.duplicate'],
      [6, '/x', 'request.unknown'],
    ]);
  });

  it('has at least one event and at most 10000', async () => {
    for (const body of [[], undefined, null, 5, 'text']) {
      expect((await refusalOf(readJsonEvents(body, 'c'))).statusCode).toBe(400);
    }
    expect((await refusalOf(readNdjsonEvents('\n', 'c'))).statusCode).toBe(400);
    const many = Array.from({ length: 10_001 }, () => ({}));
    expect(await readJsonEvents(many.slice(1), 'c')).toHaveLength(10_000);
    expect((await refusalOf(readJsonEvents(many, 'c'))).statusCode).toBe(413);
    expect((await refusalOf(readNdjsonEvents('{}\n'.repeat(10_001), 'c'))).statusCode).toBe(413);
  });

  it('with thousands of issues is refused with the first hundred and the count', async () => {
    const refusal = await refusalOf(
      readJsonEvents(
        Array.from({ length: 3000 }, () => ({ name: 1 })),
        'c',
      ),
    );
    expect(refusal.issues).toHaveLength(100);
    expect(refusal.issueCount).toBe(3000);
  });
});

it('names are suggested only for reported issues, so a body full of issues is as cheap as a valid one', async () => {
  // Only suggestions compare names in lower case.
  const lowered = vi.spyOn(String.prototype, 'toLowerCase');
  onTestFinished(() => lowered.mockRestore());
  const comparisonsOf = async (count: number) => {
    const fields = Object.fromEntries(Array.from({ length: count }, (_, i) => [`severty${i}`, 1]));
    lowered.mockClear();
    const { issues, issueCount } = await refusalOf(readJsonEvents(fields, 'c'));
    expect([issues.length, issueCount]).toEqual([100, count]);
    expect(issues[9]?.suggestion).toBe('did you mean `severity`?');
    return lowered.mock.calls.length;
  };
  const ofFew = await comparisonsOf(100);
  expect(ofFew).toBeGreaterThan(100);
  expect(await comparisonsOf(100_000)).toBe(ofFew);
});

describe('the checksum', () => {
  it('is SHA-256 over the canonical JSON (RFC 8785) of all other fields as returned', async () => {
    const [event] = await record({ id: 'a', name: 'x', latitude: 1.5, eventDetails: { b: 1, a: [true, null] } });
    const { checksum, ...content } = event;
    // Spelled out: other programs must compute this very text.
    const canonical =
      '{"altitude":null,"buildingId":null,"cityId":null,"cityName":null,"clusterId":null,"countryId":null,' +
      '"countryName":null,"descr":null,"ercollectionid":"c","eventDetails":{"a":[true,null],"b":1},' +
      '"eventTypeId":null,"floorId":null,"floorName":null,"id":"a","isUserEvent":null,"latitude":1.5,' +
      '"longitude":null,"name":"x","occurredAt":null,"panelId":null,"panelName":null,"regionId":null,' +
      '"regionName":null,"segmentId":null,"segmentName":null,"severity":null,"sourceEvent":null,"status":null,' +
      '"type":null,"vDeviceId":null,"vParentDeviceId":null}';
    expect(canonicalJson(content)).toBe(canonical);
    expect(checksum).toBe(createHash('sha256').update(canonical).digest('hex'));
    expect((await record({ checksum: 'mine' }))[0].checksum).toBe('mine');
  });

  it('does not depend on the order of keys', async () => {
    await fc.assert(
      fc.asyncProperty(postedEvents(), async ({ checksum: _, ...event }) => {
        const shuffled = Object.fromEntries(Object.entries(event).reverse());
        const details = { eventDetails: { z: 1, a: { y: 1, b: 2 } } };
        const turned = { eventDetails: { a: { b: 2, y: 1 }, z: 1 } };
        const [one] = await record({ ...shuffled, ...turned });
        const [other] = await record({ ...event, ...details });
        expect(one.checksum).toBe(other.checksum);
      }),
    );
  });

  it('agrees with the examples of RFC 8785', () => {
    const input = JSON.parse(
      '{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],' +
        '"string":"\\u20ac$\\u000F\\u000aA\'\\u0042\\u0022\\u005c\\\\\\"\\/","literals":[null,true,false]}',
    );
    expect(canonicalJson(input)).toBe(
      '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],' +
        '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
    );
    const keys = JSON.parse('{"\\u20ac":1,"\\r":2,"\\ufb33":3,"1":4,"\\ud83d\\ude00":5,"\\u0080":6,"\\u00f6":7}');
    expect(Object.values(JSON.parse(canonicalJson(keys).replace(/"1":/, '"\\u0031x":')))).toEqual([
      2, 4, 6, 7, 1, 5, 3,
    ]);
  });
});
