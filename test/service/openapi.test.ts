import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { openTestService, type TestService } from './app.js';

interface Operation {
  readonly summary?: string;
  readonly description?: string;
  readonly operationId?: string;
  readonly tags?: readonly string[];
  readonly security?: readonly Record<string, readonly string[]>[];
  readonly parameters?: readonly { name: string; in: string; required?: boolean; schema: unknown }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { schema: unknown }>> };
  readonly responses: Readonly<Record<string, Answer>>;
}

interface Answer {
  readonly $ref?: string;
  readonly description: string;
  readonly headers?: object;
  readonly content?: Record<string, { schema: unknown }>;
}

interface Document {
  readonly openapi: string;
  readonly info: { readonly title: string; readonly version: string; readonly license: { readonly name: string } };
  readonly servers: readonly { readonly url: string }[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly components: {
    readonly securitySchemes: Readonly<Record<string, { type: string; scheme: string }>>;
    readonly schemas: Readonly<Record<string, unknown>>;
    readonly responses: Readonly<Record<string, Answer>>;
  };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

let service: TestService;
let document: Document;

beforeAll(async () => {
  service = await openTestService();
  const answer = await service.app.inject({ url: '/openapi.json' });
  expect(answer.headers['content-type']).toMatch(/^application\/json/);
  document = answer.json();
});

afterAll(() => service.close());

const operations = () =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );

describe('/openapi.json', () => {
  it('is OpenAPI 3.1 of this version', () => {
    expect(document.openapi).toMatch(/^3\.1\.\d+$/);
    expect(document.info).toMatchObject({ title: 'windrow', version: packageJson.version, license: { name: 'MIT' } });
    expect(document.components.securitySchemes).toMatchObject({
      client: { type: 'http', scheme: 'basic' },
      token: { type: 'http', scheme: 'bearer' },
    });
  });

  it('has every route of the app, and no other', () => {
    const told = operations().map(({ path, method }) => `${method.toUpperCase()} ${path}`);
    const hidden = /^\/docs|^\/openapi\.json$|\*$/;
    const routes = service.routes
      .filter(({ method, url }) => method !== 'HEAD' && !hidden.test(url))
      .map(({ method, url }) => `${method} ${url.replaceAll(/:(\w+)/g, '{$1}')}`);
    // The token endpoints refuse other methods in the form of RFC 6749.
    const refused = routes.filter((route) => /^(?!POST)\w+ \/idm/.test(route));
    expect([...told].sort()).toEqual(routes.filter((route) => !refused.includes(route)).sort());
  });

  it('describes each route, under a heading that is explained, with its authentication', () => {
    const headings = document.tags.map(({ name }) => name);
    for (const { path, method, operation } of operations()) {
      const of = `${method} ${path}`;
      expect([of, operation.summary]).toEqual([of, expect.stringMatching(/\w/)]);
      expect([of, operation.tags?.every((tag) => headings.includes(tag))]).toEqual([of, true]);
      expect([of, operation.operationId, operation.description]).toEqual([
        of,
        expect.stringMatching(/^[a-z][A-Za-z]+$/),
        expect.stringMatching(/\w/),
      ]);
      const isOpen = /^\/(?:health|metrics|\.well-known)/.test(path);
      const scheme = path.startsWith('/idm') ? 'client' : 'token';
      expect([of, operation.security]).toEqual([of, isOpen ? [] : [{ [scheme]: [] }]]);
      const [, scopes] = /[.)] Needs the scope ([^.]+)\.$/.exec(operation.description!) ?? [];
      if (isOpen || scheme === 'client') expect([of, scopes]).toEqual([of, undefined]);
      else
        expect([of, scopes]).toEqual([
          of,
          expect.stringMatching(/^core_(?:read|write|admin)(?: or core_write)?(?: or core_admin)?$/),
        ]);
    }
  });

  it('has a unique name for each operation, a server, and enums for texts with fixed choices', () => {
    const names = operations().map(({ operation }) => operation.operationId);
    expect(new Set(names).size).toBe(names.length);
    expect(document.servers).toEqual([{ url: '/' }]);
    const text = JSON.stringify(document);
    for (const choices of [
      ['Created', 'Running', 'Active', 'Completed', 'Failed'],
      ['stream', 'Batch'],
      ['PT15M', 'PT1H', 'PT24H'],
      ['client_credentials', 'password'],
    ]) {
      expect(text).toContain(`"enum":${JSON.stringify(choices)}`);
    }
  });

  it('names the values of enumerations that differ in signs or case alone', () => {
    const enums: { enum: string[]; 'x-enum-varnames'?: string[] }[] = [];
    JSON.stringify(document, (_, value) => {
      if (Array.isArray(value?.enum) && typeof value.enum[0] === 'string') enums.push(value);
      return value;
    });
    expect(enums.length).toBeGreaterThan(20);
    for (const { enum: values, 'x-enum-varnames': names = values } of enums) {
      const keys = names.map((one) => one.replaceAll(/[^a-z0-9]/gi, '').toLowerCase());
      expect([names, names.length, new Set(keys).size]).toEqual([names, values.length, values.length]);
    }
    const units = enums.find((one) => one.enum.includes('mW'))!;
    const nameOf = (value: string) => units['x-enum-varnames']![units.enum.indexOf(value)];
    const signs = ['mW', 'MW', 'm³/s', 'm/s', 'm³', 'm3', '°C', '%', '1'];
    expect(signs.map(nameOf)).toEqual([
      'milliW',
      'megaW',
      'm3_per_s_2',
      'm_per_s',
      'm3_2',
      'm3',
      'degC_2',
      'percent',
      '_1',
    ]);
    for (const name of units['x-enum-varnames']!) expect(name).toMatch(/^[a-z_]\w*$/i);
  });

  it('names every path parameter once, and lists the responses', () => {
    for (const { path, method, operation } of operations()) {
      const of = `${method} ${path}`;
      const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      const { parameters = [], responses } = operation;
      expect([of, parameters.filter((one) => one.in === 'path').map(({ name }) => name)]).toEqual([of, named]);
      expect(parameters.filter((one) => one.in === 'path').every(({ required }) => required)).toBe(true);
      expect(new Set(parameters.map((one) => `${one.in} ${one.name}`)).size).toBe(parameters.length);
      expect([of, Object.keys(responses).every((code) => /^[1-5](?:\d\d|XX)$/.test(code))]).toEqual([of, true]);
      expect([of, Object.keys(responses).length > 0]).toEqual([of, true]);
    }
  });

  it('has a schema for every success response and every request body', () => {
    for (const { path, method, operation } of operations()) {
      const of = `${method} ${path}`;
      for (const [code, { content }] of Object.entries(operation.responses)) {
        if (code >= '300' || code === '204') continue;
        expect([of, code, Object.values(content ?? {}).every(({ schema }) => schema !== undefined)]).toEqual([
          of,
          code,
          true,
        ]);
        expect([of, code, Object.keys(content ?? {}).length > 0]).toEqual([of, code, true]);
      }
      expect([of, Object.keys(operation.requestBody?.content ?? {}).length > 0]).toEqual([of, method === 'post']);
    }
  });

  it('says what each answer means, and which headers an error has', () => {
    const { responses: shared } = document.components;
    for (const { path, method, operation } of operations()) {
      for (const [code, given] of Object.entries(operation.responses)) {
        const { description, headers } = shared[String(given.$ref).replace(/^.*\//, '')] ?? given;
        const of = `${method} ${path} ${code}`;
        expect([of, description]).toEqual([of, expect.not.stringContaining('Default')]);
        const expected = {
          401: ['WWW-Authenticate'],
          403: ['WWW-Authenticate'],
          429: ['Retry-After'],
          503: ['Retry-After'],
        }[code];
        expect([of, Object.keys(headers ?? {})]).toEqual([of, expected ?? []]);
      }
    }
  });

  it('names the formats of samples and their headers', () => {
    const forms = ['application/json', 'application/x-ndjson', 'text/csv', 'application/vnd.windrow.columns'];
    const headers = ({ parameters = [] }: Operation) =>
      parameters.filter((one) => one.in === 'header').map(({ name }) => name);
    for (const path of ['/core/samples', '/core/timeseries/{timeseriesId}/samples']) {
      const { post, get } = document.paths[path]!;
      expect(Object.keys(post!.requestBody!.content)).toEqual(forms);
      expect(headers(post!)).toEqual(['Content-Encoding', 'source', 'partition', 'offset']);
      // The other formats are in the description: a union with strings would force casts in every generated client.
      expect(Object.keys(get!.responses[200]!.content!)).toEqual(['application/json']);
      for (const form of forms) expect(get!.description).toContain(form);
      const { schema } = get!.responses[200]!.content!['application/json']!;
      expect(schema).toMatchObject({ required: ['status', 'data', 'paging'], properties: { data: { type: 'array' } } });
      expect(headers(get!)).toEqual(['continuationToken']);
    }
    const live = document.paths['/core/samples/live']!.get!;
    expect([headers(live), Object.keys(live.responses[200]!.content!)]).toEqual([
      ['Last-Event-ID'],
      ['text/event-stream'],
    ]);
    // The ids that follow.ts writes: the store, and a commit of each group.
    const { pattern } = Object(live.parameters?.find(({ name }) => name === 'Last-Event-ID')?.schema);
    const ids = ['0123abcd-3:5', '0123abcd-1:12.3:7.17:345', '0123abcd-5', 'x'];
    expect(ids.map((id) => new RegExp(String(pattern)).test(id))).toEqual([true, true, false, false]);
    expect(headers(document.paths['/core/timeseries']!.get!)).toEqual(['PageSize', 'continuationToken']);
  });

  it('names what several operations share, and tells apart the kinds of items and steps', () => {
    const { schemas } = document.components;
    for (const name of ['Status', 'Sample', 'Series', 'StoredSeries', 'Item', 'Transaction', 'Event', 'RetentionRule'])
      expect([name, Object(schemas[name]).type]).toEqual([name, 'object']);
    const { schema } = document.paths['/core/operations']!.get!.responses[200]!.content!['application/json']!;
    expect(schema).toMatchObject({ properties: { data: { items: { $ref: '#/components/schemas/Item' } } } });
    // An item is answered with the steps that it was registered with.
    const step = { $ref: '#/components/schemas/OperationStep' };
    expect(schemas.Item).toMatchObject({ properties: { operations: { items: step } } });
    for (const choice of ['OperationItem', 'OperationStep']) {
      const { oneOf, discriminator } = Object(schemas[choice]);
      const { propertyName, mapping } = discriminator;
      const nameOf = ($ref: string) => $ref.replace('#/components/schemas/', '');
      // Each value that a schema takes leads to it.
      const told = oneOf.flatMap(({ $ref }: { $ref: string }) =>
        Object(schemas[nameOf($ref)]).properties[propertyName].enum.map((value: string) => [value, $ref]),
      );
      expect(mapping).toEqual(Object.fromEntries(told));
      expect(told.length).toBeGreaterThan(3);
    }
  });

  it('has no dangling reference, and no schema that JSON cannot express', () => {
    const text = JSON.stringify(document);
    const references = [...text.matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, pointer]) => pointer!.split('/'));
    for (const parts of references) {
      const found = parts.reduce<unknown>((value, part) => Object(value)[part], document);
      expect([parts.join('/'), typeof found]).toEqual([parts.join('/'), 'object']);
    }
    expect(text).not.toContain('"~kind"');
  });
});

it('/docs is a page made from it', async () => {
  const page = await service.app.inject({ url: '/docs' });
  expect([page.statusCode, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
  const sources = [...page.body.matchAll(/(?:src|href)="\.?\/?([^":]+\.(?:js|css))"/g)].map(([, path]) => path!);
  expect(sources.length).toBeGreaterThan(2);
  for (const path of sources) {
    const url = path.startsWith('docs/') ? `/${path}` : `/docs/${path}`;
    expect([url, (await service.app.inject({ url })).statusCode]).toEqual([url, 200]);
  }
  expect((await service.app.inject({ url: '/docs/json' })).json()).toEqual(document);
});
