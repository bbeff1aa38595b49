import fc from 'fast-check';
import buildQuery from 'odata-query';
import { describe, expect, it } from 'vitest';
import { eventFieldNames } from '../../../src/service/events/fields.js';
import type { ClauseIssue } from '../../../src/service/events/odata/clause.js';
import { readEventQuery } from '../../../src/service/events/odata/query.js';
import { ServiceError } from '../../../src/service/http/errors.js';
import { asOptions, asParameters, comparisons, orderItems, printFilter, printLiteral, printOrder } from './queries.js';

const ALL = eventFieldNames;
const NOTHING_ASKED = {
  top: null,
  hasCount: true,
  filter: [],
  select: ALL,
  orderBy: [{ field: 'occurredAt', isDescending: true }],
};

function issuesOf(rawQuery: string): readonly ClauseIssue[] {
  try {
    readEventQuery(rawQuery);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    expect(error.statusCode).toBe(400);
    // `as`: the details of this reader's errors
    return (error.details as { issues: ClauseIssue[] }).issues;
  }
  return [];
}

const clause = (name: string, text: string): string => asParameters({ [name]: text });
const filterOf = (text: string) => readEventQuery(clause('$filter', text)).filter;

describe('the clauses of a query (interface 4.4)', () => {
  it('have defaults: all fields of all events, newest first', () => {
    expect(readEventQuery('')).toEqual(NOTHING_ASKED);
    expect(readEventQuery('OdataQueryOptions=')).toEqual(NOTHING_ASKED);
  });

  it('mean the same as parameters, inside OdataQueryOptions, and split between both', () => {
    const clauses = { $filter: "name eq 'A&B' and isUserEvent eq true", $orderby: 'severity desc, name', $top: '5' };
    const expected = {
      ...NOTHING_ASKED,
      top: 5,
      filter: [
        { field: 'name', value: 'A&B' },
        { field: 'isUserEvent', value: true },
      ],
      orderBy: [
        { field: 'severity', isDescending: true },
        { field: 'name', isDescending: false },
      ],
    };
    const { $top, ...others } = clauses;
    expect(readEventQuery(asParameters(clauses))).toEqual(expected);
    expect(readEventQuery(asOptions(clauses))).toEqual(expected);
    expect(readEventQuery(`${asOptions(others)}&$top=${$top}`)).toEqual(expected);
    expect(readEventQuery(asOptions(clauses).replace('OdataQueryOptions=', 'OdataQueryOptions=?'))).toEqual(expected);
  });

  it('read back to the same query after printing', () => {
    const queries = fc.record({
      filter: fc.array(comparisons, { minLength: 1, maxLength: 5 }),
      orderBy: orderItems,
      select: fc.subarray([...ALL], { minLength: 1 }),
      top: fc.maxSafeNat(),
      hasCount: fc.boolean(),
    });
    const forms = fc.constantFrom(asParameters, asOptions);
    fc.assert(
      fc.property(queries, forms, (query, print) => {
        const raw = print({
          $filter: printFilter(query.filter),
          $orderby: printOrder(query.orderBy),
          $select: query.select.join(','),
          $top: String(query.top),
          $count: String(query.hasCount),
        });
        expect(readEventQuery(raw)).toEqual(query);
      }),
    );
  });

  it('with any change are read, or refused with a position in the text', () => {
    const change = fc.record({
      at: fc.nat(200),
      removed: fc.nat(3),
      inserted: fc.oneof(fc.constant(''), fc.constantFrom("'", '(', ')', ' ', ',', '=', 'eq', 'and', '%', '*', 'é')),
    });
    const clauses = fc.oneof(
      fc.tuple(fc.constant('$filter'), fc.array(comparisons, { minLength: 1, maxLength: 3 }).map(printFilter)),
      fc.tuple(fc.constant('$orderby'), orderItems.map(printOrder)),
      fc.tuple(
        fc.constant('$select'),
        fc.subarray([...ALL]).map((fields) => fields.join(',')),
      ),
      fc.tuple(fc.constantFrom('$top', '$count'), fc.constantFrom('12', 'true', 'false', '')),
    );
    fc.assert(
      fc.property(clauses, change, ([name, text], { at, removed, inserted }) => {
        const position = at % (text.length + 1);
        // Through UTF-8, since half a surrogate pair cannot be sent.
        const changed = String(Buffer.from(text.slice(0, position) + inserted + text.slice(position + removed)));
        for (const issue of issuesOf(clause(name, changed))) {
          expect(issue.clause).toBe(name);
          expect(issue.position).toBeGreaterThanOrEqual(0);
          expect(issue.position).toBeLessThanOrEqual(changed.length);
          expect(issue.expected).not.toBe('');
          expect(issue.received).not.toBe('');
        }
      }),
      { numRuns: 2000 },
    );
  });

  it('truncated anywhere inside a comparison are refused', () => {
    const text = "name eq 'O''Hare' and latitude eq -2.5e3";
    for (let length = 0; length < text.length; length++) {
      const prefix = text.slice(0, length);
      const isWhole = /^name eq '(?:[^']|'')*'(?: and latitude eq -\d+(?:\.\d+)?(?:e\d+)?)? *$/.test(prefix);
      expect(issuesOf(clause('$filter', prefix)).length, prefix).toBe(isWhole ? 0 : 1);
    }
  });
});

describe('$filter (interface 4.4)', () => {
  it('compares by eq, joined by and, in balanced brackets', () => {
    const expected = [
      { field: 'name', value: 'x' },
      { field: 'status', value: null },
      { field: 'latitude', value: -1.5 },
    ];
    expect(filterOf("name eq 'x' and status eq null and latitude eq -1.5")).toEqual(expected);
    expect(filterOf("name eq 'x' and status eq null and latitude eq '-1.5'")).toEqual(expected);
    expect(filterOf("isUserEvent eq 'true' and altitude eq '1e3'")).toEqual(
      filterOf('isUserEvent eq true and altitude eq 1000'),
    );
    expect(filterOf(" ( (name eq 'x')\tand ( status eq null  and latitude eq -15e-1 ) ) ")).toEqual(expected);
  });

  it('accepts literals as OData 4.0 writes them', () => {
    const values = (field: string, ...literals: string[]) =>
      literals.map((one) => filterOf(`${field} eq ${one}`)[0]?.value);
    expect(values('name', "''", "''''", "'O''Hare'", "'eq'", 'null')).toEqual(['', "'", "O'Hare", 'eq', null]);
    expect(values('latitude', '+5', '-0', '007', '1E2', '1e+2', '2.50')).toEqual([5, 0, 7, 100, 100, 2.5]);
    expect(values('isUserEvent', 'true', 'FALSE')).toEqual([true, false]);
    expect(values('occurredAt', "'2024-01-31T13:00:00+01:00'", '2024-01-31T12:00:00Z', "'2024-01-31'")).toEqual([
      '2024-01-31T12:00:00.000Z',
      '2024-01-31T12:00:00.000Z',
      '2024-01-31T00:00:00.000Z',
    ]);
  });

  const refused: readonly (readonly [filter: string, position: number, message: RegExp])[] = [
    ['', 0, /received nothing/],
    ['name', 4, /`eq`.* received the end/],
    ["Name eq 'x'", 0, /did you mean `name`/],
    ["severty eq 'x'", 0, /did you mean `severity`/],
    ["contains(name,'x')", 0, /a field of an event/],
    ["name ne 'x'", 5, /received ne .*only `eq`/],
    ["name EQ 'x'", 5, /only `eq`/],
    ["name eq'x'", 5, /`eq` between spaces/],
    ["'x' eq name", 0, /a field of an event/],
    ["name eq 'x", 10, /ends the text, received the end/],
    ['name eq x', 8, /put text in single quotes/],
    ['name eq 5', 8, /text in single quotes.*received 5/],
    ['name eq true', 8, /text in single quotes/],
    ['name eq NULL', 8, /text in single quotes/],
    ["latitude eq 'north'", 13, /a number.* received north/],
    ["latitude eq '5", 14, /a single quote that ends the value/],
    ['latitude eq 1.', 12, /a number/],
    ['latitude eq .5', 12, /a number/],
    ['latitude eq 5M', 12, /received 5M/],
    ['latitude eq INF', 12, /finite/],
    ['latitude eq -INF', 12, /finite/],
    ['latitude eq NaN', 12, /finite/],
    ['latitude eq 1e999', 12, /range of a double/],
    ['isUserEvent eq 1', 15, /true, false, 'true', 'false' or null/],
    ["isUserEvent eq 'yes'", 16, /true, false, 'true', 'false' or null/],
    ["occurredAt eq 'yesterday'", 14, /instant/],
    ["occurredAt eq '2024-02-30'", 14, /which its month lacks/],
    ["eventDetails eq 'x'", 0, /eventDetails is an object, which can only be selected/],
    ['sourceEvent eq null', 0, /an object/],
    ["name eq 'x' or name eq 'y'", 12, /only `and` joins/],
    ["not name eq 'x'", 0, /a field of an event/],
    ["name eq 'x'and status eq 'y'", 11, /`and` between spaces/],
    ["(name eq 'x'", 12, /closing bracket, received the end/],
    ["name eq 'x')", 11, /or the end, received \)/],
    ["name eq 'x' and", 12, /`and` between spaces/],
    ["name eq 'x' and ", 16, /a field of an event/],
    ["name eq 'a\0b'", 10, /NUL/],
    ['('.repeat(101), 100, /at most 100 nested brackets/],
    [Array.from({ length: 101 }, () => 'latitude eq 1').join(' and '), 1800, /at most 100 comparisons/],
  ];
  it.each(refused)('refuses %j at %i', (filter, position, message) => {
    const [issue, ...others] = issuesOf(clause('$filter', filter));
    expect(others).toEqual([]);
    expect(issue).toMatchObject({ clause: '$filter', position });
    expect(`expected ${issue?.expected}, received ${issue?.received} ${issue?.suggestion ?? ''}`).toMatch(message);
  });
});

describe('$top, $count, $select, $orderby (interface 4.4)', () => {
  it('follow OData 4.0', () => {
    expect(readEventQuery('$top=0').top).toBe(0);
    expect(readEventQuery('$top=007').top).toBe(7);
    expect(readEventQuery('$count=false').hasCount).toBe(false);
    expect(readEventQuery('$count=TRUE').hasCount).toBe(true);
    expect(readEventQuery('$select=*').select).toEqual(ALL);
    expect(readEventQuery('$select=name, *').select).toEqual(ALL);
    expect(readEventQuery('$select=sourceEvent,id,name,id').select).toEqual(['id', 'name', 'sourceEvent']);
    expect(readEventQuery('$orderby=name , id desc,name desc').orderBy).toEqual([
      { field: 'name', isDescending: false },
      { field: 'id', isDescending: true },
    ]);
  });

  const refused: readonly (readonly [name: string, text: string, position: number])[] = [
    ['$top', '', 0],
    ['$top', '-1', 0],
    ['$top', '+1', 0],
    ['$top', '1.5', 0],
    ['$top', '1e3', 0],
    ['$top', ' 1', 0],
    ['$top', '9007199254740992', 0],
    ['$count', '', 0],
    ['$count', '1', 0],
    ['$count', 'truee', 0],
    ['$select', '', 0],
    ['$select', 'name,', 5],
    ['$select', 'name status', 5],
    ['$select', 'name,Status', 5],
    ['$select', 'eventDetails/floor', 12],
    ['$orderby', '', 0],
    ['$orderby', 'name asc desc', 9],
    ['$orderby', 'name up', 5],
    ['$orderby', 'name DESC', 5],
    ['$orderby', 'name,,id', 5],
    ['$orderby', 'eventDetails', 0],
    ['$orderby', 'length(name)', 0],
  ];
  it.each(refused)('refuse %s=%j at %i', (name, text, position) => {
    expect(issuesOf(clause(name, text))).toMatchObject([{ clause: name, position }]);
  });
});

describe('the query string', () => {
  it('is percent-decoded exactly once, with + as a space', () => {
    const value = (raw: string) => readEventQuery(raw).filter[0]?.value;
    expect(value('$filter=name%20eq%20%27a%2527b%27')).toBe('a%27b');
    expect(value('%24filter=name+eq+%27a%2Bb+c%27')).toBe('a+b c');
    expect(value(`OdataQueryOptions=${encodeURIComponent("$filter=name eq 'a%27b+c'")}`)).toBe('a%27b+c');
    expect(value("$filter=name eq 'ü%C3%BC'")).toBe('üü');
  });

  it('of odata-query is read as intended', () => {
    const awkward = fc.constantFrom("O'Hare", 'a&b=c', '100%', '%27', 'a+b', '#?', 'Zürich', '', "'");
    fc.assert(
      fc.property(awkward, fc.integer(), fc.boolean(), fc.nat(), (name, latitude, isUserEvent, top) => {
        const query = buildQuery<Record<string, unknown>>({
          filter: { name, latitude, isUserEvent, status: null },
          orderBy: ['severity desc', 'name'],
          select: ['id', 'name'],
          count: true,
          top,
        });
        const expected = {
          top,
          hasCount: true,
          filter: [
            { field: 'name', value: name },
            { field: 'latitude', value: latitude },
            { field: 'isUserEvent', value: isUserEvent },
            { field: 'status', value: null },
          ],
          select: ['id', 'name'],
          orderBy: [
            { field: 'severity', isDescending: true },
            { field: 'name', isDescending: false },
          ],
        };
        expect(readEventQuery(query.slice(1))).toEqual(expected);
        expect(readEventQuery(`OdataQueryOptions=${query.slice(1)}`)).toEqual(expected);
        // As a URL parser leaves it.
        expect(readEventQuery(new URL(query, 'http://x').search.slice(1))).toEqual(expected);
      }),
    );
    const nested = buildQuery({
      filter: { and: [{ name: 'x' }, { and: [{ floorId: 'y' }, { isUserEvent: false }] }] },
    });
    expect(readEventQuery(nested.slice(1)).filter.map(({ field }) => field)).toEqual([
      'name',
      'floorId',
      'isUserEvent',
    ]);
    const occurredAt = new Date('2024-01-31T12:00:00Z');
    expect(readEventQuery(buildQuery({ filter: { occurredAt } }).slice(1)).filter).toEqual([
      { field: 'occurredAt', value: '2024-01-31T12:00:00.000Z' },
    ]);
  });

  it('with an unknown clause, a repeated clause or broken escapes is refused, naming the clause', () => {
    const refused: readonly (readonly [raw: string, issue: Partial<ClauseIssue>])[] = [
      ['$fliter=x', { clause: '$fliter', position: 0, suggestion: 'did you mean `$filter`?' }],
      ['filter=x', { clause: 'filter', suggestion: 'did you mean `$filter`?' }],
      ['odataQueryOptions=x', { clause: 'odataQueryOptions', suggestion: 'did you mean `OdataQueryOptions`?' }],
      ['$skip=5', { clause: '$skip', received: '$skip' }],
      ['OdataQueryOptions=$skip%3D5', { clause: '$skip' }],
      ['=5', { clause: '', received: 'a value without a name' }],
      ['$top=1&$top=1', { clause: '$top', received: 'it twice' }],
      ['$top=1&OdataQueryOptions=%24top%3D1', { clause: '$top', received: 'it twice' }],
      [
        'OdataQueryOptions=&OdataQueryOptions=',
        { clause: 'OdataQueryOptions', expected: 'OdataQueryOptions once', received: 'it twice' },
      ],
      [
        'OdataQueryOptions=OdataQueryOptions%3D%2524top%253D1',
        {
          clause: 'OdataQueryOptions',
          expected: 'one of $top, $count, $filter, $select, $orderby within OdataQueryOptions',
          received: 'OdataQueryOptions',
          suggestion: undefined,
        },
      ],
      ["$filter=name eq '100%'", { clause: '$filter', position: 12, received: "%'" }],
      ['$filter=name%20eq%20%FF', { clause: '$filter', position: 9, received: '%20%FF' }],
    ];
    for (const [raw, issue] of refused) expect(issuesOf(raw), raw).toMatchObject([issue]);
  });

  it("with an offset's plus sent as it is, which means a space, is refused with the mend", () => {
    const suggestion = 'a + in a query is written %2B';
    for (const literal of ['2024-01-31T12:00:00+02:00', "'2024-01-31T12:00:00+02:00'", "'2024-01-31T12:00+0200'"]) {
      expect(issuesOf(`$filter=occurredAt eq ${literal}`), literal).toMatchObject([
        { clause: '$filter', position: 14, received: literal.replaceAll("'", '').replace('+', ' '), suggestion },
      ]);
      expect(readEventQuery(`$filter=occurredAt eq ${literal.replace('+', '%2B')}`).filter).toMatchObject([
        { value: '2024-01-31T10:00:00.000Z' },
      ]);
    }
    expect(issuesOf("$filter=occurredAt eq 'x 02:00'")[0]).not.toHaveProperty('suggestion', suggestion);
  });

  it('reports every invalid clause', () => {
    const issues = issuesOf('$top=x&$filter=nme eq 1&$orderby=id up&$foo=1&$count=yes&$select=');
    expect(issues.map(({ clause }) => clause)).toEqual(['$foo', '$top', '$count', '$filter', '$select', '$orderby']);
  });

  it('keeps a literal separate from the text around it', () => {
    fc.assert(
      fc.property(comparisons, comparisons, (first, second) => {
        const raw = asOptions({ $filter: printFilter([first]), $top: '3' });
        expect(readEventQuery(raw)).toMatchObject({ top: 3, filter: [first] });
        const nested = `((${printFilter([first])}) and ${second.field} eq ${printLiteral(second.value)})`;
        expect(filterOf(nested)).toEqual([first, second]);
      }),
    );
  });
});
