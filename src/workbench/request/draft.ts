import { findRepeatedKey } from '../../formats/json-keys.js';
import type { Plan, SeriesReference } from '../../index.js';
import { keyOf, messageOf } from '../engine/protocol.js';

/** A request as the page edits it: its form is that of a request, its values need not be valid. */
export type Draft = readonly DraftItem[];

export interface DraftItem {
  readonly metric: string;
  readonly processingType: string;
  readonly frequency?: string;
  readonly operations: readonly DraftStep[];
}

export interface DraftStep {
  readonly operation: string;
  readonly input: readonly SeriesReference[];
  readonly output: readonly SeriesReference[];
  readonly parameters: Parameters;
}

export type Parameters = Readonly<Record<string, unknown>>;

/** The place of a step. */
export interface Place {
  readonly item: number;
  readonly step: number;
}

export function pointerOf({ item, step }: Place): string {
  return `/${item}/operations/${step}`;
}

/** The request in a text. */
export function readRequest(text: string): ReturnType<typeof readDraft> {
  try {
    const json = JSON.parse(text);
    const repeated = findRepeatedKey(text);
    return repeated === undefined
      ? readDraft(json)
      : { problem: `/${repeated.path.join('/')}: expected each key of an object once, received it twice` };
  } catch (error) {
    return { problem: messageOf(error) };
  }
}

/** The request in parsed JSON, alone or as the `items` of a file, or why the forms cannot show it. */
export function readDraft(json: unknown): { readonly draft: Draft } | { readonly problem: string } {
  const list = isObject(json) ? json.items : json;
  if (!Array.isArray(list)) return { problem: 'expected an array of items: [ { "metric": …, "operations": [ … ] } ]' };
  const items: DraftItem[] = [];
  for (const [index, item] of list.entries()) {
    if (!isObject(item)) return { problem: `/${index}: expected an object` };
    const { operations = [] } = item;
    if (!Array.isArray(operations) || !operations.every(isStep)) {
      return { problem: `/${index}/operations: expected an array of steps, with parameters as an object` };
    }
    const { metric, processingType } = item;
    items.push({
      ...item,
      metric: textOf(metric),
      processingType: textOf(processingType),
      operations: operations.map(readStep),
    });
  }
  return { draft: items };
}

function isStep(value: unknown): value is Record<string, unknown> {
  return isObject(value) && (value.parameters === undefined || isObject(value.parameters));
}

// Unknown fields stay, so that they are reported.
function readStep(step: Record<string, unknown>): DraftStep {
  const { operation, input, output, parameters } = step;
  return {
    ...step,
    operation: textOf(operation),
    input: referencesOf(input),
    output: referencesOf(output),
    parameters: isObject(parameters) ? parameters : {},
  };
}

function referencesOf(value: unknown): SeriesReference[] {
  if (!Array.isArray(value)) return [];
  return value.map((one) => {
    const { timeseriesId, metric, ...rest } = isObject(one) ? one : {};
    return { ...rest, timeseriesId: textOf(timeseriesId), metric: textOf(metric) };
  });
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

/** The series of a step's result; for the last step that of its item. */
export function resultOf(draft: Draft, { item, step }: Place): SeriesReference {
  const { metric, operations } = draft[item]!;
  const [output] = operations[step]!.output;
  const timeseriesId = output?.timeseriesId ?? '';
  return { timeseriesId, metric: step === operations.length - 1 ? metric : (output?.metric ?? '') };
}

/** All steps in the order of the request. */
export function placesOf(draft: Draft): Place[] {
  return draft.flatMap(({ operations }, item) => operations.map((_, step) => ({ item, step })));
}

/** The results of all items. */
export function itemResults(draft: Draft): SeriesReference[] {
  return draft.flatMap(({ operations }, item) =>
    operations.length === 0 ? [] : [resultOf(draft, { item, step: operations.length - 1 })],
  );
}

export function isSame(a: SeriesReference, b: SeriesReference): boolean {
  return keyOf(a) === keyOf(b);
}

/** The request for the service, whose runs have no zone: what follows from the zone is written into the steps. */
export function inZone(draft: Draft, plan: Plan | undefined): Draft {
  if (plan === undefined || plan.timezone === 'UTC') return draft;
  const planned = new Map(plan.steps.map(({ pointer, parameters }) => [pointer, parameters]));
  return draft.map((item, at) => ({
    ...item,
    operations: item.operations.map((step, index) => {
      const parameters = planned.get(pointerOf({ item: at, step: index })) ?? step.parameters;
      return { ...step, parameters: JSON.parse(JSON.stringify(parameters, writtenInstant)) };
    }),
  }));
}

// A plan has instants as epoch milliseconds, a request as text.
function writtenInstant(name: string, value: unknown): unknown {
  const isInstant = typeof value === 'number' && ['starttime', 'endtime', 'since'].includes(name);
  return isInstant && Number.isInteger(value) ? new Date(value).toISOString() : value;
}

/** Patterns that several series match: `zone-{n}` where ids differ in a number, `*` where several have the metric. */
export function patternsOf(series: readonly SeriesReference[]): (SeriesReference & { readonly count: number })[] {
  const found = new Map<string, { reference: SeriesReference; ids: Set<string> }>();
  for (const { timeseriesId, metric } of series) {
    for (const id of [timeseriesId.replace(/\d+(?!.*\d)/, '{n}'), '*']) {
      const reference = { timeseriesId: id, metric };
      const { ids } = found.get(keyOf(reference)) ?? { ids: new Set() };
      if (id !== timeseriesId) found.set(keyOf(reference), { reference, ids: ids.add(timeseriesId) });
    }
  }
  const all = [...found.values()].map(({ reference, ids }) => ({ ...reference, count: ids.size }));
  return all.filter(({ count }) => count > 1);
}

/** The parameters with one set, or left out if the value is undefined. */
export function withParameter(parameters: Parameters, name: string, value: unknown): Parameters {
  return value === undefined ? without(parameters, [name]) : { ...parameters, [name]: value };
}

export function without(parameters: Parameters, names: readonly string[]): Parameters {
  return Object.fromEntries(Object.entries(parameters).filter(([name]) => !names.includes(name)));
}

const LINE_LENGTH = 88;

/** JSON in which whatever fits on a line is on one line. */
export function writeRequest(value: unknown, indent = ''): string {
  const short = JSON.stringify(value) ?? 'null';
  if (value === null || typeof value !== 'object') return short;
  const inner = `${indent}  `;
  const spaced = `${indent}${short}`.length <= LINE_LENGTH - 12 ? spacedOut(value) : undefined;
  if (spaced !== undefined && spaced.length + indent.length <= LINE_LENGTH && !isItem(value)) return spaced;
  const parts = Array.isArray(value)
    ? value.map((one) => `${inner}${writeRequest(one, inner)}`)
    : Object.entries(value).map(([name, one]) => `${inner}${JSON.stringify(name)}: ${writeRequest(one, inner)}`);
  if (parts.length === 0) return short;
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  return `${open}\n${parts.join(',\n')}\n${indent}${close}`;
}

function isItem(value: object): boolean {
  return 'operations' in value || 'operation' in value;
}

function spacedOut(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(spacedOut).join(', ')}]`;
  if (!isObject(value)) return JSON.stringify(value) ?? 'null';
  const fields = Object.entries(value).map(([name, one]) => `${JSON.stringify(name)}: ${spacedOut(one)}`);
  return fields.length === 0 ? '{}' : `{ ${fields.join(', ')} }`;
}
