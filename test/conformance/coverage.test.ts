import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { operations } from '../../src/operations/info.js';
import { type ComputationCase, readComputationCases } from './conformance.js';

/** What needs a case with figures from outside: every operation, and every choice that a parameter offers. */
function requiredKeys(): string[] {
  const keys = [...operations.values()].flatMap(({ name, parameters }) => {
    const choices = Object.entries(propertiesOf(parameters)).filter(([parameter]) => !UNITS.has(parameter));
    return [name, ...choices.flatMap(([parameter, { enum: values = [] }]) => values.map(keyOf(name, parameter)))];
  });
  return [...new Set([...keys, ...WINDOWS.map((window) => `Aggregate window ${window}`)])];
}

// Units are checked against their definitions, in the oracle.
const UNITS = new Set(['from', 'to']);
const WINDOWS = ['interval', 'sliding with every', 'sliding', 'session', 'running'];

interface Parameter {
  readonly enum?: readonly string[];
  readonly default?: unknown;
}

// `as`: the list of operations holds JSON Schemas of objects.
function propertiesOf(schema: object): Record<string, Parameter> {
  return (schema as { properties: Record<string, Parameter> }).properties;
}

/** All operations align two inputs in the same way, so one case of each alignment is enough. */
const keyOf = (name: string, parameter: string) => (value: string) =>
  `${parameter === 'align' ? 'two inputs' : name} ${parameter} ${value}`;

interface Step {
  readonly operation: string;
  readonly input: readonly unknown[];
  readonly parameters?: Record<string, unknown>;
}

/** What a case covers. */
function keysOf({ request }: ComputationCase): string[] {
  // `as`: we wrote the requests of the cases.
  return (request as { operations: Step[] }[]).flatMap(({ operations: steps }) => steps.flatMap(keysOfStep));
}

function keysOfStep({ operation, input, parameters: given = {} }: Step): string[] {
  const { name, parameters } = [...operations.values()].find(
    (one) => same(one.name, operation) || one.aliases.some((alias) => same(alias, operation)),
  )!;
  const keys = Object.entries(propertiesOf(parameters)).flatMap(
    ([parameter, { enum: values = [], default: byDefault }]) => {
      const isHeld = (value: string): boolean =>
        parameter === 'align'
          ? input.length > 1 && same(given.align ?? 'inner', value)
          : same(given[parameter] ?? byDefault, value);
      return values.filter(isHeld).map(keyOf(name, parameter));
    },
  );
  return [name, ...keys, ...(name === 'Aggregate' ? [`Aggregate window ${windowOf(given)}`] : [])];
}

function windowOf({ window }: Record<string, unknown>): string {
  // `as`: the form that the list of operations gives.
  const { type = 'interval', every } = (window ?? {}) as { type?: string; every?: string };
  return every === undefined ? type : `${type} with every`;
}

const same = (a: unknown, b: string): boolean => String(a).toLowerCase() === b.toLowerCase();

const filesByKey = new Map<string, Set<string>>(requiredKeys().map((key) => [key, new Set()]));
for (const one of readComputationCases()) {
  for (const key of keysOf(one)) filesByKey.get(key)?.add(one.file.replace('.json', ''));
}

test('every operation, and every choice of its parameters, has a case with figures from outside', () => {
  expect([...filesByKey].filter(([, files]) => files.size === 0).map(([key]) => key)).toEqual([]);
});

test('the README lists each of them with the files that cover it', () => {
  const readme = readFileSync(new URL('README.md', import.meta.url), 'utf8');
  const rows = [...filesByKey].map(([key, files]) => `| ${key} | ${[...files].join(', ')} |`);
  expect(rows.filter((row) => !readme.includes(`\n${row}\n`))).toEqual([]);
});
