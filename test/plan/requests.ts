/** Small requests for tests to break. */

export type Json = Readonly<Record<string, unknown>>;

export const raw = (timeseriesId: string): Json => ({ timeseriesId, metric: 'Raw' });

export function step(operation: unknown, parameters: unknown, fields: Json = {}): Json {
  return { operation, input: [raw('a')], output: [{ timeseriesId: 'a', metric: 'Step' }], parameters, ...fields };
}

export function item(operations: unknown, fields: Json = {}): Json {
  return { metric: 'Result', processingType: 'batch', operations, ...fields };
}

export const hourly = step('Aggregate', { function: 'Average', interval: 'Hourly' });
