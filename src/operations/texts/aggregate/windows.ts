import type { WindowTexts } from '../../extensions/aggregates/window-kind.js';
import { windowKinds, windowTypes } from '../../extensions/aggregates/window-parameter.js';
import type { JsonSchema } from '../../parameters.js';

const slidingTexts: WindowTexts = {
  summary: 'of one size, one at each boundary of an interval or one for each sample',
  fields: {
    size: 'How far back each window reaches.',
    every: 'The interval at whose boundaries windows end; without it, at each sample.',
  },
};

const sessionTexts: WindowTexts = {
  summary: 'from a sample to the last one before a gap',
  fields: {
    gap: 'A session ends when no sample comes for longer than this.',
  },
};

const runningTexts: WindowTexts = {
  summary: 'from a start to each sample: totals so far',
  fields: {
    since: 'When the total restarts: an interval such as Daily, or an instant, from which it goes on.',
  },
};

const windowTexts: readonly WindowTexts[] = [slidingTexts, sessionTexts, runningTexts];

/** The description of the parameter. */
export function windowSummary(): string {
  const kinds = windowTexts.map(({ summary }, index) => `\`${windowTypes[index]}\`, ${summary}`).join('; ');
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
