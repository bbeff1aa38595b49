import type { ScalarKernel, VectorKernel } from '../kernels/arithmetic.js';
import * as kernels from '../kernels/compare.js';
import type { Example, MapRunner, Operation } from './operation.js';
import { number, numberIn, type Parameters } from './parameters.js';
import { alignParameters, checkAlign, describeTwo, scalar } from './two-inputs.js';

interface Kernels {
  readonly scalar: ScalarKernel;
  readonly vector: VectorKernel;
  /** For Eq and Ne alone: the result within the tolerance. */
  readonly within?: 0 | 1;
  /** Values to compare with 2, and the results. */
  readonly results: readonly [below: number, equal: number, above: number];
}

export const eq = comparison('Eq', 'equal to', {
  scalar: kernels.eqScalar,
  vector: kernels.eq,
  within: 1,
  results: [0, 1, 0],
});
export const ne = comparison('Ne', 'not equal to', {
  scalar: kernels.neScalar,
  vector: kernels.ne,
  within: 0,
  results: [1, 0, 1],
});
export const lte = comparison('Lte', 'at most', { scalar: kernels.lteScalar, vector: kernels.lte, results: [1, 1, 0] });
export const lt = comparison('Lt', 'less than', { scalar: kernels.ltScalar, vector: kernels.lt, results: [1, 0, 0] });
export const gt = comparison('Gt', 'greater than', {
  scalar: kernels.gtScalar,
  vector: kernels.gt,
  results: [0, 0, 1],
});
export const gte = comparison('Gte', 'at least', {
  scalar: kernels.gteScalar,
  vector: kernels.gte,
  results: [0, 1, 1],
});

function comparison(name: string, words: string, code: Kernels): Operation {
  const tolerance = number({
    summary: 'Values this far apart or less count as equal.',
    minimum: 0,
    optional: true,
    extension: true,
  });
  return {
    name,
    summary: `Tells whether each value is ${words} a scalar, or the second series: 1 or 0.`,
    shape: 'map',
    inputs: 'one with scalar, or two',
    parameters: { scalar, ...(code.within === undefined ? {} : { tolerance }), ...alignParameters },
    check: checkAlign,
    describe: (parameters) =>
      parameters.scalar === undefined
        ? { does: `1 where the first input is ${words} the second, else 0`, ...describeTwo(parameters) }
        : {
            does: `1 where the value is ${words} ${numberIn(parameters, 'scalar')}, else 0`,
            reads: { kind: 'sample' },
            keeps: 'nothing',
            final: 'with its sample',
          },
    open: (parameters) => openComparison(parameters, code),
    examples: examplesOf(words, code),
  };
}

function openComparison(parameters: Parameters, code: Kernels): ReturnType<Operation['open']> {
  const tolerance = parameters.tolerance === undefined ? 0 : numberIn(parameters, 'tolerance');
  const isTolerant = tolerance > 0 && code.within !== undefined;
  if (parameters.scalar === undefined) {
    const vector: VectorKernel = (left, right, count) => {
      kernels.near(left, right, count, tolerance);
      return code.within === 1 || kernels.not(left, count);
    };
    return { kind: 'combine', apply: isTolerant ? vector : code.vector };
  }
  const operand = numberIn(parameters, 'scalar');
  const apply: MapRunner['apply'] = isTolerant
    ? (value, count) => {
        kernels.nearScalar(value, count, operand, tolerance);
        return code.within === 1 || kernels.not(value, count);
      }
    : (value, count) => code.scalar(value, count, operand);
  return { kind: 'map', apply };
}

function examplesOf(words: string, code: Kernels): Example[] {
  const [below, equal, above] = code.results;
  const values = [
    ['00:00', 1.5],
    ['00:01', 2],
    ['00:02', 2.5],
  ] as const;
  const output = [
    ['00:00', below],
    ['00:01', equal],
    ['00:02', above],
  ] as const;
  const examples: Example[] = [
    { title: `Which values are ${words} 2`, parameters: { scalar: 2 }, inputs: [values], output },
    {
      title: `Where the first series is ${words} the second`,
      parameters: {},
      inputs: [
        values,
        [
          ['00:00', 2],
          ['00:01', 2],
          ['00:02', 2],
        ],
      ],
      output,
    },
    {
      title: `Against a slower series, as it was last known`,
      parameters: { align: 'asof' },
      inputs: [values, [['00:00', 2]]],
      output,
    },
  ];
  if (code.within === undefined) return examples;
  const inside = code.within;
  return [
    ...examples,
    {
      title: 'With a tolerance',
      parameters: { scalar: 2, tolerance: 0.5 },
      inputs: [[...values, ['00:03', 2.75]]],
      output: [
        ['00:00', inside],
        ['00:01', inside],
        ['00:02', inside],
        ['00:03', 1 - inside],
      ],
    },
  ];
}
