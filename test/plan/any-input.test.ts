import fc from 'fast-check';
import { test } from 'vitest';
import { createPlan, InputError, RequestError } from '../../src/index.js';
import { operationNames, operationsByName } from '../../src/operations/index.js';
import { sceneArbitrary } from '../laws/running.js';

/** createPlan accepts anything and must throw nothing but errors meant for the caller. */
function planOrRefuse(request: unknown, options?: unknown): void {
  try {
    createPlan(request, options as never); // options come from JavaScript callers too
  } catch (error) {
    if (!(error instanceof RequestError || error instanceof InputError)) throw error;
    if (error instanceof RequestError && error.issues.length === 0) throw new Error('an error without issues');
  }
}

test('any JSON value is planned or refused', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => planOrRefuse(value)),
    { numRuns: 3000 },
  );
});

test('any JavaScript value is planned or refused', () => {
  const value = fc.anything({
    withBigInt: true,
    withBoxedValues: true,
    withDate: true,
    withMap: true,
    withSet: true,
    withTypedArray: true,
    withSparseArray: true,
    withNullPrototype: true,
    withObjectString: true,
  });
  fc.assert(
    fc.property(value, (one) => planOrRefuse(one)),
    { numRuns: 3000 },
  );
  fc.assert(
    fc.property(value, (one) => planOrRefuse([], one)),
    { numRuns: 1000 },
  );
});

/** Field names and texts of requests, for invalid values that resemble valid ones. */
const keys = [
  ...new Set([...operationsByName.values()].flatMap(({ parameters }) => Object.keys(parameters))),
  'metric',
  'operations',
  'processingType',
  'frequency',
  'operation',
  'input',
  'output',
  'parameters',
  'timeseriesId',
  'lower',
  'upper',
  'starttime',
  'endtime',
  '__proto__',
  'constructor',
  'toString',
  '',
  '/',
  '~',
];
const leaf = fc.oneof(
  fc.constantFrom<unknown>(
    ...operationNames,
    'batch',
    'stream',
    'Hourly',
    'PT1H',
    'Sum',
    'UTC',
    'Europe/Berlin',
    'hold',
  ),
  fc.constantFrom<unknown>(null, true, 0, -0, 1e308, Number.NaN, Number.POSITIVE_INFINITY, '', [], {}, undefined, 5n),
  fc.constantFrom<unknown>(
    Symbol('s'),
    () => 1,
    new Date(Number.NaN),
    new Map(),
    '__proto__',
    'P99999999999999999999999W',
  ),
  fc.string(),
  fc.double(),
);
const nonsense = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    leaf,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...keys), tie('value'), { maxKeys: 5 }),
  ),
})).value;

test('a value with the fields of a request, but no sense, is planned or refused', () => {
  fc.assert(
    fc.property(nonsense, (value) => planOrRefuse(value)),
    { numRuns: 3000 },
  );
});

/** Replaces, removes, duplicates or renames the part of a request that the numbers choose. */
function mutate(request: unknown, path: readonly number[], kind: number, replacement: unknown): unknown {
  const copy: unknown = structuredClone(request);
  let at: unknown = copy;
  for (const [depth, place] of path.entries()) {
    if (at === null || typeof at !== 'object') return copy;
    const fields = at as Record<string, unknown>; // for arrays, the keys are indices
    const names = Object.keys(fields);
    const name = names[place % Math.max(1, names.length)];
    if (name === undefined) return copy;
    const next = fields[name];
    const isEnd = depth === path.length - 1 || next === null || typeof next !== 'object';
    if (!isEnd) {
      at = next;
      continue;
    }
    if (kind === 0) fields[name] = replacement;
    else if (kind === 1) delete fields[name];
    else if (kind === 2) fields[keys[place % keys.length]!] = next;
    else if (Array.isArray(at)) at.push(next);
    else if (typeof next === 'string') fields[name] = next.slice(1);
    return copy;
  }
  return copy;
}

test('a valid request with changed parts is planned or refused', () => {
  const path = fc.array(fc.nat(20), { minLength: 1, maxLength: 8 });
  const changes = fc.array(fc.tuple(path, fc.nat(3), fc.oneof(nonsense, leaf)), { minLength: 1, maxLength: 3 });
  const property = fc.property(sceneArbitrary(4), changes, ({ request }, mutations) => {
    let changed: unknown = request;
    for (const [place, kind, replacement] of mutations) {
      changed = cloneable(changed) ? mutate(changed, place, kind, replacement) : changed;
    }
    planOrRefuse(changed);
  });
  fc.assert(property, { numRuns: 3000 });
});

function cloneable(value: unknown): boolean {
  try {
    structuredClone(value);
    return true;
  } catch {
    return false;
  }
}

test('a request with parts behind getters and proxies is planned or refused', () => {
  const trap = new Proxy(
    {},
    {
      get: () => trap,
      ownKeys: () => ['operations'],
      getOwnPropertyDescriptor: () => ({ configurable: true, enumerable: true }),
    },
  );
  const thrower = {
    get metric() {
      throw new RangeError('no');
    },
  };
  for (const value of [trap, [trap], [thrower]]) {
    try {
      planOrRefuse(value);
    } catch (error) {
      // An error thrown by the caller's own getter is not ours.
      if (!(error instanceof RangeError)) throw error;
    }
  }
});
