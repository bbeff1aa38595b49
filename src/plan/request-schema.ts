import { intervalNames } from '../core/interval.js';
import { operationsByName } from '../operations/index.js';
import type { Inputs, Operation } from '../operations/operation.js';
import type { JsonSchema } from '../operations/parameters.js';
import { alignment, has, inputs, type OperationRules, when, without, withParameters } from '../operations/rules.js';
import { parameterSchemas, rulesByName, textsOf } from '../operations/texts/index.js';
import { FREQUENCIES } from './read-request.js';

/** The JSON Schema of a request, generated from the operations. Editors use it to complete and check request files. */
export function requestSchema(): JsonSchema {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'A windrow request',
    description: WHAT_IT_CHECKS,
    anyOf: [
      { $ref: '#/$defs/items' },
      {
        type: 'object',
        properties: { $schema: { type: 'string' }, items: { $ref: '#/$defs/items' } },
        required: ['items'],
        additionalProperties: false,
      },
    ],
    $defs: {
      items: { type: 'array', minItems: 1, items: itemSchema() },
      series: seriesSchema,
      output: outputSchema,
      step: stepSchema(),
    },
  };
}

const WHAT_IT_CHECKS =
  'The form of a request. What depends on meaning is found only when the request is planned, as by ' +
  '`windrow explain`: which time zones there are, which of two bounds is the greater, which days a month has, how ' +
  'long durations are and which divide another, and what inputs refer to. A plan also takes names of operations, ' +
  'functions and choices in any case; here they are spelt as documented.';

/** A series that a step reads. */
export const seriesSchema: JsonSchema = {
  type: 'object',
  properties: {
    timeseriesId: {
      type: 'string',
      minLength: 1,
      // `*` alone, or any id without it.
      pattern: '^(\\*|[^*]+)$',
      description: 'The id of a series; `*` for every series; or a pattern for those that match, such as `zone-{n}`.',
    },
    metric: { type: 'string', minLength: 1, description: 'What the series holds; `Raw` for samples from outside.' },
  },
  required: ['timeseriesId', 'metric'],
  additionalProperties: false,
};

// The metric Raw is reserved for samples from outside.
const outputSchema = { $ref: '#/$defs/series', properties: { metric: { not: { const: 'Raw' } } } };

function itemSchema(): JsonSchema {
  return {
    type: 'object',
    properties: {
      metric: {
        type: 'string',
        minLength: 1,
        description: 'The name under which the result of the last step appears.',
      },
      processingType: {
        type: 'string',
        enum: ['batch', 'stream'],
        description: 'Whether the service computes results by `frequency`, or as samples arrive.',
      },
      frequency: { type: 'string', enum: FREQUENCIES, description: 'How often a batch runs.' },
      operations: {
        type: 'array',
        minItems: 1,
        items: { $ref: '#/$defs/step' },
        description: 'The steps, in any order; the last one gives the result.',
      },
    },
    required: ['metric', 'processingType', 'operations'],
    additionalProperties: false,
    if: { required: ['frequency'] },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { properties: { processingType: { const: 'batch' } } },
  };
}

function stepSchema(): JsonSchema {
  const operations = [...operationsByName.values()];
  return {
    type: 'object',
    properties: {
      operation: {
        type: 'string',
        enum: operations.flatMap(spellingsOf),
        description: 'What the step does; `windrow operations NAME` shows it with examples.',
      },
      ...seriesFields({ series: { $ref: '#/$defs/series' }, output: { $ref: '#/$defs/output' } }),
      parameters: { type: 'object', description: 'What the operation needs to know; see the operation.' },
    },
    required: ['operation', 'input', 'output'],
    additionalProperties: false,
    allOf: operations.map((operation) => ({
      if: { properties: { operation: { enum: spellingsOf(operation) } } },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: conditionsOf(operation),
    })),
  };
}

/** The series that a step reads and the one that it gives, as schemas or references to them. */
export interface SeriesSchemas {
  readonly series: JsonSchema;
  readonly output: JsonSchema;
}

/**
 * The schema of a step of each operation, by the operation's name. It leaves out how parameters and inputs must fit
 * together, as generators of clients make `any` of a type with conditions.
 */
export function stepSchemas(of: SeriesSchemas): Readonly<Record<string, JsonSchema>> {
  const { input, output } = seriesFields(of);
  const schemas = [...operationsByName.values()].map((operation) => {
    const { name, inputs = 'one' } = operation;
    const schema = {
      type: 'object',
      description: textsOf(name).summary,
      properties: {
        operation: { type: 'string', enum: spellingsOf(operation) },
        input: { ...input, ...INPUT_COUNTS[inputs] },
        output,
        parameters: { type: 'object', ...parametersSchema(operation) },
      },
      required: ['operation', 'input', 'output', ...(needsParameters(operation) ? ['parameters'] : [])],
      additionalProperties: false,
    };
    return [name, schema] as const;
  });
  return Object.fromEntries(schemas);
}

type JsonFields<Name extends string> = Readonly<Record<Name, JsonSchema>>;

const INPUT_COUNTS: Readonly<Record<Inputs, JsonSchema>> = {
  one: { maxItems: 1 },
  two: { minItems: 2, maxItems: 2 },
  'one or two': { maxItems: 2 },
  'two or three': { minItems: 2, maxItems: 3 },
  'two or more': { minItems: 2 },
  'one and a scalar, or two': { maxItems: 2 },
  'one and a scalar, or more': {},
};

/** The fields of a step that are alike for every operation. */
function seriesFields({ series, output }: SeriesSchemas): JsonFields<'input' | 'output'> {
  return {
    input: {
      type: 'array',
      minItems: 1,
      items: series,
      description: 'The series that the step reads: samples from outside, or what other steps give.',
    },
    output: {
      type: 'array',
      minItems: 1,
      maxItems: 1,
      items: output,
      description: 'The series that the step gives, for other steps to read.',
    },
  };
}

// What holds for the steps of one operation.
function conditionsOf(operation: Operation): JsonSchema {
  const { inputs = 'one' } = operation;
  const rules = rulesOf(operation);
  return {
    properties: {
      parameters: { ...parametersSchema(operation), ...allOf(rules.parameters) },
      input: INPUT_COUNTS[inputs],
    },
    ...(needsParameters(operation) ? { required: ['parameters'] } : {}),
    ...allOf(rules.step),
  };
}

function parametersSchema(operation: Operation): JsonSchema {
  return {
    description: textsOf(operation.name).summary,
    properties: mapped(parameterSchemas(operation)),
    required: requiredOf(operation),
    additionalProperties: false,
  };
}

function requiredOf({ parameters }: Operation): readonly string[] {
  return Object.keys(parameters).filter((name) => parameters[name]?.isRequired);
}

function needsParameters(operation: Operation): boolean {
  return requiredOf(operation).length > 0 || rulesOf(operation).parameters.some(isDemand);
}

/** Whether a rule asks for one of several parameters. */
function isDemand(rule: JsonSchema): boolean {
  return 'anyOf' in rule || 'oneOf' in rule;
}

function spellingsOf({ name, aliases = [] }: Operation): readonly string[] {
  return [name, ...aliases];
}

// How the parameters of a step, and its inputs, must fit together: what the operation says, and what follows from the
// number of its inputs.
function rulesOf({ name, inputs: count = 'one', either }: Operation): Required<OperationRules> {
  const { parameters = [], step = [] } = rulesByName[name]?.() ?? {};
  const exactlyOne = either === undefined ? [] : [{ oneOf: either.map((one) => has(one)) }];
  const takesScalar = count.startsWith('one and a scalar');
  const aligned = takesScalar || count === 'two' ? alignment() : [];
  const ofScalar = { allOf: [inputs(1, 1), withParameters(without('align', 'maxhold', 'maxgap'))] };
  const scalarOrInputs = [
    when(withParameters(has('scalar')), ofScalar),
    when({ not: withParameters(has('scalar')) }, inputs(2)),
  ];
  return {
    parameters: [...exactlyOne, ...parameters, ...aligned],
    step: takesScalar ? [...step, ...scalarOrInputs] : step,
  };
}

function allOf(rules: readonly JsonSchema[]): JsonSchema {
  return rules.length === 0 ? {} : { allOf: rules };
}

const WHOLE = '\\d+';
const DECIMAL = '\\d+(\\.\\d+)?';
const DATE = '\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])';
const CLOCK = '([01]\\d|2[0-3]):[0-5]\\d';
const OFFSET = '(Z|[+-]([01]\\d|2[0-3])(:?[0-5]\\d)?)';

/** Parts in order, at least one of them, with decimals only in the last one. */
function parts(units: readonly string[]): string {
  const ways = units.map((unit, index) => {
    const before = units.slice(0, index).map((one) => `(${WHOLE}${one})?`);
    return `${before.join('')}${DECIMAL}${unit}`;
  });
  return `(${ways.join('|')})`;
}

const DURATION = `P(${parts(['W', 'D'])}|(${WHOLE}W)?(${WHOLE}D)?T${parts(['H', 'M', 'S'])})`;
const INSTANT = `${DATE}([T ](${CLOCK}(:[0-5]\\d(\\.\\d+)?)?|24:00(:00(\\.0+)?)?)${OFFSET}?)?`;

const whole = (pattern: string): string => `^${pattern}$`;
/** A length of nothing. Not a look-ahead in the pattern of a duration, as not every engine of patterns has them. */
const ZERO: JsonSchema = { pattern: '^[^1-9]*$' };
const intervals: readonly JsonSchema[] = [
  { type: 'string', enum: [...intervalNames, 'P1M', 'P1Y'] },
  { type: 'string', pattern: whole(DURATION), not: ZERO },
];

/** Patterns for formats that an editor may not know. */
const FORMATS: Readonly<Record<string, JsonSchema>> = {
  duration: { pattern: whole(DURATION) },
  interval: { anyOf: intervals },
  'date-time': { pattern: whole(INSTANT) },
  date: { pattern: whole(DATE) },
  timezone: { pattern: '^[A-Za-z]' },
};

/** Patterns for texts without a format, by the names of their fields. */
const TEXTS: Readonly<Record<string, JsonSchema>> = {
  since: { anyOf: [...intervals, { type: 'string', pattern: whole(INSTANT) }] },
  start: { pattern: whole(`${CLOCK}(:[0-5]\\d)?`) },
  end: { pattern: whole(`(${CLOCK}(:[0-5]\\d)?|24:00)`) },
};

/** The schema with patterns instead of formats, and with no unknown fields allowed in objects. */
function strict(schema: JsonSchema): JsonSchema {
  const { format, items, properties, oneOf, ...rest } = schema;
  const ofFormat = typeof format === 'string' ? FORMATS[format] : {};
  if (ofFormat === undefined) throw new Error(`assertion failed: no pattern for the format ${String(format)}`);
  return {
    ...rest,
    // The pattern of a duration itself asks for a digit other than 0.
    ...(format === 'duration' && rest.pattern !== undefined ? { not: ZERO } : {}),
    ...ofFormat,
    ...(isSchema(items) ? { items: strict(items) } : {}),
    ...(Array.isArray(oneOf) ? { oneOf: oneOf.map((one) => strict(one)) } : {}),
    ...(isSchema(properties) ? { properties: mapped(properties), additionalProperties: false } : {}),
  };
}

function mapped(schemas: JsonSchema): JsonSchema {
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [
      name,
      isSchema(schema) ? { ...strict(schema), ...TEXTS[name] } : schema,
    ]),
  );
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
