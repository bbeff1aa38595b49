import { type Describe, type OperationTexts, ofEachSample } from '../operation.js';
import { numberIn, textIn } from '../parameters.js';

export const cleanseTexts: OperationTexts = {
  summary: 'Clamps values into a range (BoundsLimitCleanse), or keeps only samples outside it (BoundsLimitAnomaly).',
  parameters: {
    function: 'What to do with the range.',
    lowerbound: 'The lowest value of the range.',
    upperbound: 'The highest value of the range.',
  },
  examples: [
    {
      title: 'Values are clamped into the range',
      parameters: { function: 'BoundsLimitCleanse', lowerbound: 0, upperbound: 100 },
      inputs: ['00:00 -5, 00:01 50, 00:02 120'],
      output: '00:00 0, 00:01 50, 00:02 100',
    },
    {
      title: 'The samples outside the range',
      parameters: { function: 'BoundsLimitAnomaly', lowerbound: 0, upperbound: 100 },
      inputs: ['00:00 -5, 00:01 50, 00:02 120, 00:03 100'],
      output: '00:00 -5, 00:02 120',
    },
    {
      title: 'Bounds may be fractions',
      parameters: { function: 'BoundsLimitCleanse', lowerbound: 18.5, upperbound: 21.5 },
      inputs: ['00:00 18, 00:01 20, 00:02 22'],
      output: '00:00 18.5, 00:01 20, 00:02 21.5',
    },
  ],
};

export const describeCleanse: Describe = (parameters) => {
  const range = `[${numberIn(parameters, 'lowerbound')}, ${numberIn(parameters, 'upperbound')}]`;
  const isAnomaly = textIn(parameters, 'function') === 'BoundsLimitAnomaly';
  return {
    does: isAnomaly ? `keeps samples outside ${range}` : `trims values into ${range}`,
    ...ofEachSample,
  };
};
