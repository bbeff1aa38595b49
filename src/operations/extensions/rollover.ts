import { number, type Parameter, refuse } from '../parameters.js';

/** The parameter `max` of meters: the value at which they roll over to 0. */
export function rollover(options: { readonly optional: true; readonly extension?: true }): Parameter {
  const any = number(options);
  return {
    ...any,
    schema: { ...any.schema, exclusiveMinimum: 0 },
    read: (value, report, context) => {
      const max = any.read(value, report, context);
      return max === undefined || Number(max) > 0 ? max : refuse(report, 'request.range', 'a number over 0', max);
    },
  };
}
