import * as kernels from '../../../kernels/values.js';
import type { MapRunner, NoParameters, Operation, StepDraft } from '../../operation.js';
import { number, numberIn, type Parameter, type Parameters } from '../../parameters.js';

/** Functions of one value: Sqrt, Exp, Log, Sign, Floor, Ceil. */

const without = (): StepDraft<NoParameters> => ({ parameters: {} });

export const sqrt = ofValue({ sqrt: without }, 'Sqrt', { apply: kernels.sqrt });

export const exp = ofValue({ exp: without }, 'Exp', { apply: kernels.exp });

export interface LogMethods {
  /** The natural logarithm, or that of a base. */
  log(base?: number): StepDraft<{ readonly base?: number }>;
}

export const log: Operation<LogMethods> = {
  name: 'Log',
  shape: 'map',
  methods: { log: (to) => ({ parameters: to === undefined ? {} : { base: to } }) },
  parameters: { base: baseParameter() },
  open: (parameters) => {
    const to = parameters.base === undefined ? undefined : baseIn(parameters);
    return { kind: 'map', apply: (value, count, out) => kernels.log(value, count, to, out) };
  },
};

export const sign = ofValue({ sign: without }, 'Sign', { apply: kernels.sign, isTotal: true });

export const floor = ofValue({ floor: without }, 'Floor', { apply: kernels.floor, isTotal: true });

export const ceil = ofValue({ ceil: without }, 'Ceil', { apply: kernels.ceil, isTotal: true, otherNames: ['ceiling'] });

interface Code {
  readonly apply: MapRunner['apply'];
  /** Whether every value has a result. */
  readonly isTotal?: true;
  readonly otherNames?: readonly string[];
}

function ofValue<M extends object, N extends string>(
  methods: M,
  name: N,
  { apply, isTotal, otherNames }: Code,
): Operation<M, N> {
  return {
    name,
    otherNames,
    shape: 'map',
    ...(isTotal === true ? { results: 'one a sample' } : {}),
    methods,
    parameters: {},
    open: () => ({ kind: 'map', apply }),
  };
}

function baseParameter(): Parameter {
  const plain = number({ optional: true });
  return {
    ...plain,
    schema: { type: 'number', exclusiveMinimum: 0, not: { const: 1 } },
    read: (value, report, context) => {
      const read = plain.read(value, report, context);
      if (typeof read !== 'number' || (read > 0 && read !== 1)) return read;
      report('', 'request.range', 'a base over 0 other than 1', String(read));
      return undefined;
    },
  };
}

export function baseIn(parameters: Parameters): number {
  return numberIn(parameters, 'base');
}
