import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { TSchema } from 'typebox';
import { Compile, type Validator } from 'typebox/compile';
import { Value } from 'typebox/value';
import { describeValue } from '../../core/errors.js';
import { didYouMean } from '../../core/suggest.js';
import { badRequest, ServiceError } from './errors.js';

interface RequestIssue {
  readonly place: string;
  /** JSON pointer into the place. */
  readonly pointer: string;
  readonly expected: string;
  readonly received: string;
  readonly suggestion?: string | undefined;
}

interface Fault {
  readonly keyword: string;
  readonly instancePath: string;
  readonly schemaPath: string;
  readonly message: string;
  readonly params: object;
}

const PLACES: Readonly<Record<string, string>> = {
  querystring: 'query',
  params: 'path',
  headers: 'header',
  body: 'body',
};

/**
 * Checks requests against their schemas. An unknown parameter is a fault; nothing is dropped silently. Texts of query
 * and path are converted to the numbers and booleans of the schema.
 */
export function addValidator(app: FastifyInstance): void {
  app.setValidatorCompiler<TSchema>(({ schema, httpPart = 'body' }) => {
    const isText = httpPart !== 'body';
    return (given: unknown) => {
      const value: unknown = isText && hasEntries(given) ? converted(given, schema) : given;
      const place = PLACES[httpPart] ?? httpPart;
      const validator = validatorOf(schema);
      if (validator.Check(value)) return { value };
      // TypeBox reports an unknown name twice: as `additionalProperties`, and as `boolean` for the schema `false`.
      const faults = validator.Errors(value).filter(({ keyword }) => keyword !== 'boolean');
      return { error: refusal(joinChoices(faults).flatMap((fault) => issuesOf(place, fault, value, schema))) };
    };
  });
}

/** What is compiled so far, for all servers of the process. */
const validators = new WeakMap<TSchema, Validator>();

// A schema is compiled with the first request that it checks: a start does not wait for all of them.
function validatorOf(schema: TSchema): Validator {
  const known = validators.get(schema) ?? Compile(schema);
  validators.set(schema, known);
  return known;
}

// Most requests have no query, and there is nothing in it to convert.
function hasEntries(given: unknown): boolean {
  for (const _name in Object(given)) return true;
  return false;
}

const NUMBER = /^-?\d+(?:\.\d+)?$/;

// typebox makes 0 of an empty text, 16 of `0x10`, 1 of `1.5` where a whole number is wanted, and true of `1`: such
// texts stay, and are refused.
function converted(given: unknown, schema: TSchema): unknown {
  const value: unknown = Value.Convert(schema, Value.Clone(given));
  for (const [name, text] of Object.entries(Object(given))) {
    const made: unknown = Object(value)[name];
    // typebox leaves out `__proto__` and `constructor`, which are names like others here.
    if (!Object.hasOwn(Object(value), name)) {
      Object.defineProperty(value, name, { value: text, enumerable: true, configurable: true, writable: true });
    }
    if (typeof text !== 'string') continue;
    if (typeof made === 'boolean' && String(made) !== text) Object(value)[name] = text;
    if (typeof made !== 'number') continue;
    if (!NUMBER.test(text) || Number(text) !== made) Object(value)[name] = text;
  }
  return value;
}

// A value that fits none of several schemas is one fault, which names them all; typebox gives one for each.
function joinChoices(faults: readonly Fault[]): Fault[] {
  return faults.flatMap((fault) => {
    const isOfChoice = (one: Fault): boolean =>
      one.keyword === 'anyOf' && one !== fault && one.instancePath === fault.instancePath && isBelow(fault, one);
    if (faults.some(isOfChoice)) return [];
    if (fault.keyword !== 'anyOf') return [fault];
    const parts = faults.filter((one) => one.instancePath === fault.instancePath && isBelow(one, fault));
    const allowedValues = parts.flatMap((one) => valuesAllowedBy(one));
    if (allowedValues.length > 0) return [{ ...fault, keyword: 'enum', params: { allowedValues } }];
    return [{ ...fault, message: [...new Set(parts.map(expectedBy))].join(' or ') || fault.message }];
  });
}

function isBelow(fault: Fault, choice: Fault): boolean {
  return fault.schemaPath.startsWith(`${choice.schemaPath}/anyOf/`);
}

function valuesAllowedBy({ params }: Fault): unknown[] {
  if ('allowedValue' in params) return [params.allowedValue];
  return 'allowedValues' in params && Array.isArray(params.allowedValues) ? params.allowedValues : [];
}

/** What a fault expects, as a noun: typebox says `must be …`, `must not have more than …`. */
function expectedBy(fault: Fault): string {
  const allowed = valuesAllowedBy(fault);
  if (allowed.length > 0) return allowed.length === 1 ? String(allowed[0]) : `one of ${allowed.join(', ')}`;
  return fault.message
    .replace(/^must not have more than /, 'at most ')
    .replace(/^must not have fewer than /, 'at least ')
    .replace(/ 1 (character|item)s$/, ' one $1')
    .replace(/^must not have /, 'no ')
    .replace(/^must be >= /, 'at least ')
    .replace(/^must be <= /, 'at most ')
    .replace(/^must be (?=array|integer|object)/, 'an ')
    .replace(/^must be boolean/, 'true or false')
    .replace(/^must be (?=string|number)/, 'a ')
    .replace(/^must be /, 'a value that is ')
    .replace(/^must match /, 'a value that matches ')
    .replace(/^must /, 'a value that must ');
}

// PostgreSQL stores no NUL in a text. Refused here, the error names the parameter of the path and not a column.
function withNul(params: unknown): RequestIssue[] {
  return Object.entries(Object(params)).flatMap(([name, text]) => {
    if (typeof text !== 'string' || !text.includes('\0')) return [];
    const expected = 'text without NUL (%00)';
    return [{ place: 'path', pointer: `/${name}`, expected, received: describeValue(text) }];
  });
}

// Fastify leaves what cannot be decoded as it is: `%FC` would be a name of three characters.
function notDecodable(url: string): RequestIssue[] {
  const query = /\?(.*)/s.exec(url)?.[1] ?? '';
  if (!query.includes('%') || isDecodable(query)) return [];
  const parts = query.split('&').filter((part) => !isDecodable(part));
  return parts.map((part) => {
    const [, name = '', value = ''] = /^([^=]*)=?(.*)$/s.exec(part) ?? [];
    const received = describeValue(isDecodable(name) ? value : name);
    return { place: 'query', pointer: `/${name}`, expected: 'percent-encoded UTF-8, a % itself as %25', received };
  });
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

function refusal(issues: readonly RequestIssue[]): ServiceError {
  const lines = issues.map(({ place, pointer, expected, received, suggestion }) => {
    const name = pointer === '' ? place : `${place} ${pointer.slice(1)}`;
    return `${name}: expected ${expected}, received ${received}${suggestion === undefined ? '' : `; ${suggestion}`}`;
  });
  return new ServiceError(400, lines.join('\n'), { details: { issues } });
}

function issuesOf(place: string, fault: Fault, value: unknown, schema: TSchema): RequestIssue[] {
  const params = fault.params as Readonly<Record<string, unknown>>; // by keyword, as JSON Schema names them
  const under = (name: string): string => `${fault.instancePath}/${name}`;
  if (fault.keyword === 'additionalProperties') {
    return namesOf(params.additionalProperties).map((name) => unknownName(place, under(name), name, namesIn(schema)));
  }
  if (fault.keyword === 'required') {
    const missing = { place, expected: 'a value', received: 'nothing' };
    return namesOf(params.requiredProperties).map((name) => ({ ...missing, pointer: under(name) }));
  }
  const expected = expectedBy(fault);
  const received = describeValue(Value.Pointer.Get(value, fault.instancePath));
  return [{ place, pointer: fault.instancePath, expected, received }];
}

function unknownName(place: string, pointer: string, name: string, known: readonly string[]): RequestIssue {
  const expected = known.length === 0 ? 'no parameters' : `one of ${known.join(', ')}`;
  const suggestion = didYouMean(name, known, { pagesize: 'limit' }) ?? (place === 'query' ? asHeader(name) : undefined);
  return { place, pointer, expected, received: describeValue(name), suggestion };
}

/** Headers of the interface that look like parameters. */
const HEADERS: readonly string[] = ['PageSize', 'continuationToken', 'ercollectionid'];

/** What to say of a parameter that is a header; undefined for any other. */
export function asHeader(name: string): string | undefined {
  const header = HEADERS.find((known) => known.toLowerCase() === name.toLowerCase());
  return header && `${header} is a header`;
}

function namesIn(schema: unknown): string[] {
  return Object.keys(Object(Object(schema).properties));
}

/**
 * Refuses parameters of the path with NUL, those of the query that cannot be decoded, and those that a route does not
 * have, even if its schema names none or only documents the route. Skips routes without a token, because RFC 6749
 * requires that unknown parameters be ignored.
 */
export function addParameterCheck(app: FastifyInstance): void {
  app.addHook('preHandler', (request, _reply, done) => {
    if (request.windrowPrincipal !== undefined) checkParameters(request);
    done();
  });
}

function checkParameters({ params, query, url, routeOptions }: FastifyRequest): void {
  const unfit = withNul(params);
  if (unfit.length > 0) throw refusal(unfit);
  const names = Object.keys(Object(query));
  const schema: unknown = routeOptions.schema?.querystring;
  // A schema that allows more is of a route that reads its query itself.
  if (names.length === 0 || (schema !== undefined && Object(schema).additionalProperties !== false)) return;
  const undecoded = notDecodable(url);
  if (undecoded.length > 0) throw refusal(undecoded);
  const known = namesIn(schema);
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0) throw refusal(unknown.map((name) => unknownName('query', `/${name}`, name, known)));
}

// If one of these comes twice, Node takes the first or joins them, while a proxy may use the last.
const SINGLE_HEADERS: ReadonlySet<string> = new Set([
  'host',
  'content-type',
  'source',
  'partition',
  'offset',
  'ercollectionid',
  'pagesize',
  'continuationtoken',
  'last-event-id',
]);

/** Answers 400 if a header that decides what a request means comes twice, or Host is missing (RFC 9112, 3.2). */
export function addHeaderCheck(app: FastifyInstance): void {
  app.addHook('onRequest', ({ raw }, _reply, done) => {
    const { rawHeaders, httpVersion } = raw;
    const seen: string[] = [];
    for (let i = 0; i < rawHeaders.length; i += 2) {
      const name = rawHeaders[i]!.toLowerCase();
      if (!SINGLE_HEADERS.has(name)) continue;
      if (seen.includes(name)) throw badRequest(`header ${rawHeaders[i]}: expected once, received twice`);
      seen.push(name);
    }
    if (httpVersion === '1.1' && !seen.includes('host'))
      throw badRequest('header Host: expected once, received nothing');
    done();
  });
}

function namesOf(names: unknown): string[] {
  return Array.isArray(names) ? names.map(String) : [];
}
