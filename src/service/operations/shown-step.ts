import { intervalNames } from '../../core/interval.js';
import { findOperation, operationNames } from '../../operations/index.js';
import type { JsonSchema } from '../../operations/parameters.js';

/** A step as it was posted and planned. */
export interface PostedStep {
  readonly operation: string;
  readonly parameters?: Readonly<Record<string, unknown>>;
}

/** A step with its names as the interface writes them: they may be posted in any case. */
export function shownStep(step: PostedStep): PostedStep {
  const operation = findOperation(step.operation);
  if (operation === undefined) return step;
  const shown = { ...step, operation: inSpelling(step.operation, operationNames) };
  if (step.parameters === undefined) return shown;
  const parameters = Object.entries(step.parameters).map(([name, value]) => {
    return [name, shownValue(value, operation.parameters[name]?.schema)] as const;
  });
  return { ...shown, parameters: Object.fromEntries(parameters) };
}

function shownValue(value: unknown, schema: unknown): unknown {
  if (typeof value === 'string') return inSpelling(value, namesIn(schema));
  // `as`: a JSON Schema.
  const { items, properties } = Object(schema) as { items?: JsonSchema; properties?: Record<string, JsonSchema> };
  if (Array.isArray(value)) return value.map((one) => shownValue(one, items));
  if (value === null || typeof value !== 'object' || properties === undefined) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, shownValue(one, properties[name])]));
}

/** The names that a schema lists, in any of its choices. */
function namesIn(schema: unknown): readonly string[] {
  const { format, enum: names = [], anyOf = [], oneOf = [] } = Object(schema);
  return format === 'interval' ? intervalNames : [...names, ...anyOf.flatMap(namesIn), ...oneOf.flatMap(namesIn)];
}

function inSpelling(text: string, names: readonly string[]): string {
  // Some differ only in their case, as mW and MW do.
  if (names.includes(text)) return text;
  return names.find((name) => String(name).toLowerCase() === text.toLowerCase()) ?? text;
}
