import { SHORTEST_MS } from '../../../core/interval.js';
import { choice, duration, number, type Parameters, type Report, textIn } from '../../parameters.js';

/** Parameters of functions that the interface lacks. */

const own = { optional: true, extension: true } as const;

export const ownParameters = {
  method: choice(['step', 'linear'], own),
  maxgap: duration(0, own),
  unit: duration(SHORTEST_MS, own),
  max: number(own),
  lower: number(own),
  upper: number(own),
};

export const ownTexts = {
  method: 'For Integral and TimeWeightedAverage: hold values (`step`, the default) or draw lines (`linear`).',
  maxgap: 'Samples further apart have nothing between them; of two inputs, how long a gap is interpolated over.',
  unit: 'The unit of time of Integral, TimeInState, Rate and Slope; PT1H by default.',
  max: 'Of a counter, for Increase and Rate: the value at which it starts at 0 again.',
  lower: 'The least value of the state, for TimeInState and Transitions.',
  upper: 'The greatest value of the state, for TimeInState and Transitions.',
};

/** Reports those that do not go together. */
export function checkOwn(parameters: Parameters, report: Report): void {
  const { lower, upper, maxhold, maxgap, method } = parameters;
  const name = textIn(parameters, 'function');
  if ((name === 'TimeInState' || name === 'Transitions') && lower === undefined && upper === undefined) {
    report('/lower', 'request.missing', `a bound of the state with the function ${name}`, 'neither lower nor upper');
  }
  if (lower !== undefined && upper !== undefined && lower > upper) {
    report('/lower', 'request.range', 'lower at most upper', `${lower} over ${upper}`, 'swap the two');
  }
  if (maxhold !== undefined && method === 'linear') {
    report('/maxhold', 'request.conflict', 'maxhold only without lines', 'method `linear`', 'take maxgap');
  }
  if (name === 'Coverage' && maxhold === undefined && maxgap === undefined) {
    report('/maxhold', 'request.missing', 'how long a sample counts, with Coverage', 'nothing');
  }
}
