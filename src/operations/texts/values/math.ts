import { baseIn } from '../../extensions/values/math.js';
import { type Describe, type OperationTexts, ofEachSample } from '../../operation.js';

export const sqrtTexts: OperationTexts = {
  summary: 'Takes the square root of each value.',
  parameters: {},
  examples: [
    {
      title: 'Square roots',
      parameters: {},
      inputs: ['00:00 4, 00:01 2, 00:02 0'],
      output: '00:00 2, 00:01 1.4142135623730951, 00:02 0',
    },
    {
      title: 'A negative value has none, and is counted as nonFinite',
      parameters: {},
      inputs: ['00:00 -1, 00:01 9'],
      output: '00:01 3',
    },
    {
      title: 'The speed of a flow from its dynamic pressure over half the density',
      parameters: {},
      inputs: ['00:00 12.25, 00:10 16'],
      output: '00:00 3.5, 00:10 4',
    },
  ],
};

export const describeSqrt = /* @__PURE__ */ describeOfValue('square roots');

export const expTexts: OperationTexts = {
  summary: 'Raises e to the power of each value.',
  parameters: {},
  examples: [
    {
      title: 'Powers of e',
      parameters: {},
      inputs: ['00:00 0, 00:01 1, 00:02 -1'],
      output: '00:00 1, 00:01 2.718281828459045, 00:02 0.36787944117144233',
    },
    {
      title: 'What is too large for a number is counted as nonFinite',
      parameters: {},
      inputs: ['00:00 709, 00:01 710'],
      output: '00:00 8.218407461554972e307',
    },
    {
      title: 'What is too small becomes 0',
      parameters: {},
      inputs: ['00:00 -745, 00:01 -746'],
      output: '00:00 5e-324, 00:01 0',
    },
  ],
};

export const describeExp = /* @__PURE__ */ describeOfValue('powers of e');

export const logTexts: OperationTexts = {
  summary: 'Takes the logarithm of each value, natural or to a base.',
  parameters: {
    base: 'The base, over 0 and not 1; e by default.',
  },
  examples: [
    {
      title: 'Natural logarithms; 0 and less have none, and are counted as nonFinite',
      parameters: {},
      inputs: ['00:00 1, 00:01 10, 00:02 0'],
      output: '00:00 0, 00:01 2.302585092994046',
    },
    {
      title: 'To base 10',
      parameters: { base: 10 },
      inputs: ['00:00 1000, 00:01 0.01, 00:02 2'],
      output: '00:00 3, 00:01 -2, 00:02 0.3010299956639812',
    },
    {
      title: 'To base 2',
      parameters: { base: 2 },
      inputs: ['00:00 8, 00:01 0.5'],
      output: '00:00 3, 00:01 -1',
    },
  ],
};

export const describeLog: Describe = (parameters) => ({
  ...ofEachSample,
  does: `takes ${parameters.base === undefined ? 'natural logarithms' : `logarithms to base ${baseIn(parameters)}`}`,
});

export const signTexts: OperationTexts = {
  summary: 'Gives −1, 0 or 1, the sign of each value.',
  parameters: {},
  examples: [
    {
      title: 'Signs',
      parameters: {},
      inputs: ['00:00 -2.5, 00:01 0, 00:02 1e-300'],
      output: '00:00 -1, 00:01 0, 00:02 1',
    },
    {
      title: 'Whether a building takes power from the grid or gives it',
      parameters: {},
      inputs: ['11:00 1.5, 12:00 -3.25, 13:00 -0.5'],
      output: '11:00 1, 12:00 -1, 13:00 -1',
    },
    { title: 'Zero of either sign is 0', parameters: {}, inputs: ['00:00 -0, 00:01 0'], output: '00:00 0, 00:01 0' },
  ],
};

export const describeSign = /* @__PURE__ */ describeOfValue('signs');

export const floorTexts: OperationTexts = {
  summary: 'Rounds each value down to a whole number.',
  parameters: {},
  examples: [
    {
      title: 'Down, below zero too',
      parameters: {},
      inputs: ['00:00 1.9, 00:01 -1.1, 00:02 3'],
      output: '00:00 1, 00:01 -2, 00:02 3',
    },
    {
      title: 'Whole units of a product that are done',
      parameters: {},
      inputs: ['06:00 11.99, 07:00 12.01'],
      output: '06:00 11, 07:00 12',
    },
    {
      title: 'Numbers over 2⁵³ are whole already',
      parameters: {},
      inputs: ['00:00 1e22'],
      output: '00:00 1e22',
    },
  ],
};

export const describeFloor = /* @__PURE__ */ describeOfValue('values rounded down');

export const ceilTexts: OperationTexts = {
  summary: 'Rounds each value up to a whole number.',
  parameters: {},
  examples: [
    {
      title: 'Up, below zero too; the result is never −0',
      parameters: {},
      inputs: ['00:00 1.1, 00:01 -1.9, 00:02 -0.5'],
      output: '00:00 2, 00:01 -1, 00:02 0',
    },
    {
      title: 'Whole tanks that are needed',
      parameters: {},
      inputs: ['06:00 2.01, 07:00 3'],
      output: '06:00 3, 07:00 3',
    },
    {
      title: 'Numbers over 2⁵³ are whole already',
      parameters: {},
      inputs: ['00:00 1e22'],
      output: '00:00 1e22',
    },
  ],
};

export const describeCeil = /* @__PURE__ */ describeOfValue('values rounded up');

function describeOfValue(words: string): Describe {
  return () => ({ ...ofEachSample, does: `takes ${words}` });
}
