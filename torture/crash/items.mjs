// The items that clients register, and their results by one batch over the stored samples.

const DAY_MS = 86_400_000;

export const metrics = ['Hourly', 'Scaled', 'Running', 'Sum', 'Daily'];

const of = (timeseriesId, metric) => [{ timeseriesId, metric }];

/** An item for one of `metrics`: over one series, over two, or over the stored result of another item. */
export function itemOf(metric, id, other) {
  const output = of(id, metric);
  const step = (operation, input, parameters, to = output) => ({ operation, input, output: to, parameters });
  const raw = of(id, 'Raw');
  const operations = {
    Hourly: () => [
      step('Mul', raw, { scalar: 1.1 }, of(id, 'Times')),
      step('Aggregate', of(id, 'Times'), { function: 'Average', interval: 'Hourly' }),
    ],
    Scaled: () => [step('Round', raw, { roundtodigits: 1 })],
    Running: () => [step('Aggregate', raw, { function: 'Sum', window: { type: 'running', since: 'Yearly' } })],
    Sum: () => [step('Add', [...raw, ...of(other, 'Raw')], {})],
    Daily: () => [step('Aggregate', of(id, 'Hourly'), { function: 'Max', interval: 'Daily' })],
  };
  return { metric, processingType: 'stream', operations: operations[metric]() };
}

/** From when on a result no longer depends on samples before an instant. */
export function nextWindowMs(metric, timeMs) {
  return metric === 'Running' ? Number.POSITIVE_INFINITY : Math.ceil(timeMs / DAY_MS) * DAY_MS;
}

/** An item for each series `<name>-zone-…`, which the service registers as these appear. */
export function patternOf(name) {
  return memberOf(`${name}-zone-{n}`);
}

/** What the item of `patternOf` is for one of its series. */
export function memberOf(id) {
  const operations = [
    {
      operation: 'Aggregate',
      input: of(id, 'Raw'),
      output: of(id, 'Member'),
      parameters: { function: 'Average', interval: 'QuarterHourly' },
    },
  ];
  return { metric: 'Member', processingType: 'stream', operations };
}

/** The series that an item reads. */
export function sourcesOf({ operations }) {
  const made = new Set(operations.map(({ output }) => JSON.stringify(output[0])));
  return operations.flatMap(({ input }) => input).filter((series) => !made.has(JSON.stringify(series)));
}

/** Loads the engine of the build under test; returns a function that computes a batch with it. */
export async function loadBatch(indexPath) {
  const { createPlan, runBatch } = await import(indexPath);
  return (item, sources) => {
    const [result] = runBatch(createPlan([item]), sources).series;
    return result;
  };
}
