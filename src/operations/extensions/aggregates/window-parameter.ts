import {
  type JsonSchema,
  type Parameters,
  parameter,
  readName,
  readParameters,
  refuse,
  within,
} from '../../parameters.js';
import { running, runningTexts } from './running.js';
import { session, sessionTexts } from './session.js';
import { sliding, slidingTexts } from './sliding.js';
import type { WindowKind, WindowTexts } from './window-kind.js';

const windowKinds: readonly WindowKind[] = [sliding, session, running];
const types = windowKinds.map(({ type }) => type);

/** Windows other than those of an interval, by their type. */
const window = parameter({ optional: true, extension: true }, { type: 'object' }, (value, report, context) => {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    return refuse(report, 'request.type', `an object with a type: one of ${types.join(', ')}`, value);
  }
  const { type: given, ...rest } = { type: undefined, ...value };
  const type = readName(given, types, within(report, '/type'));
  const kind = windowKinds.find((one) => one.type === type);
  const fields = kind && readParameters(rest, kind.fields, report, context);
  return kind && fields && { type: kind.type, ...fields };
});

/** The parameter `window` of Aggregate. */
export const windowParameters = { window };

/** The kind and the fields of a step's window; undefined if the step has an interval instead. */
export function windowIn({
  window,
}: Parameters): { readonly kind: WindowKind; readonly window: Parameters } | undefined {
  if (typeof window !== 'object' || !('type' in window)) return undefined;
  const kind = windowKinds.find(({ type }) => type === window.type);
  return kind && { kind, window };
}

const windowTexts: readonly WindowTexts[] = [slidingTexts, sessionTexts, runningTexts];

/** The description of the parameter. */
export function windowSummary(): string {
  const kinds = windowTexts.map(({ summary }, index) => `\`${types[index]}\`, ${summary}`).join('; ');
  return `The windows, instead of an interval: ${kinds}.`;
}

export function windowSchema(): JsonSchema {
  const oneOf = windowKinds.map((kind, index) => {
    const { summary, fields } = windowTexts[index]!;
    const own = Object.entries(kind.fields);
    const described = own.map(([name, { schema }]) => [name, { ...schema, description: fields[name] }]);
    const properties = { type: { const: kind.type, description: summary }, ...Object.fromEntries(described) };
    const required = ['type', ...own.filter(([, { isRequired }]) => isRequired).map(([name]) => name)];
    return { type: 'object', properties, required, additionalProperties: false };
  });
  return { oneOf };
}
