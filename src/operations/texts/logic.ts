import { type Describe, type OperationTexts, ofEachSample } from '../operation.js';
import { alignTexts, describeTwo } from './two-inputs.js';

export const notTexts: OperationTexts = {
  summary: 'Turns 0 into 1 and anything else into 0.',
  parameters: {},
  examples: [
    {
      title: 'The complement of a binary series',
      parameters: {},
      inputs: ['00:00 1, 00:01 0, 00:02 1'],
      output: '00:00 0, 00:01 1, 00:02 0',
    },
    {
      title: 'Anything but 0 is true',
      parameters: {},
      inputs: ['00:00 -2.5, 00:01 1e-300, 00:02 0'],
      output: '00:00 0, 00:01 0, 00:02 1',
    },
    {
      title: 'When a door is closed, from when it is open',
      parameters: {},
      inputs: ['06:00 0, 07:30 1, 18:45 0'],
      output: '06:00 1, 07:30 0, 18:45 1',
    },
  ],
};

export const describeNot: Describe = () => ({
  does: '1 where the value is zero, else 0',
  ...ofEachSample,
});

const BOTH = 'both inputs are';
const EITHER = 'at least one input is';

export const andTexts = /* @__PURE__ */ logicalTexts(BOTH, [0, 0, 0, 1]);
export const orTexts = /* @__PURE__ */ logicalTexts(EITHER, [0, 1, 1, 1]);

export const describeAnd = /* @__PURE__ */ describeLogical(BOTH);
export const describeOr = /* @__PURE__ */ describeLogical(EITHER);

function describeLogical(words: string): Describe {
  return (parameters) => ({ does: `1 where ${words} true, else 0`, ...describeTwo(parameters) });
}

/** The result, by which of the inputs are true. */
type Truth = readonly [neither: number, second: number, first: number, both: number];

function logicalTexts(words: string, [neither, second, first, both]: Truth): OperationTexts {
  return {
    summary: `Gives 1 where ${words} true (not 0), and 0 elsewhere.`,
    parameters: alignTexts,
    examples: [
      {
        title: 'The truth table',
        parameters: {},
        inputs: ['00:00 0, 00:01 0, 00:02 1, 00:03 1', '00:00 0, 00:01 1, 00:02 0, 00:03 1'],
        output: `00:00 ${neither}, 00:01 ${second}, 00:02 ${first}, 00:03 ${both}`,
      },
      {
        title: 'Anything but 0 is true',
        parameters: {},
        inputs: ['00:00 -3, 00:01 0', '00:00 0.5, 00:01 0'],
        output: `00:00 ${both}, 00:01 ${neither}`,
      },
      {
        title: 'States that change at different times, each held until its next change',
        parameters: { align: 'hold' },
        inputs: ['00:00 1, 00:20 0', '00:00 0, 00:10 1'],
        output: `00:00 ${first}, 00:10 ${both}, 00:20 ${second}`,
      },
    ],
  };
}
