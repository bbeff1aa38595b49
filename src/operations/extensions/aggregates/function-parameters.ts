import { SHORTEST_MS } from '../../../core/interval.js';
import {
  checkOrder,
  choice,
  duration,
  number,
  type Parameters,
  type Report,
  textIn,
  within,
} from '../../parameters.js';

/** The parameters of the functions that extend the interface. */

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
  maxgap: 'The longest gap between samples that counts; with two inputs, the longest gap to interpolate over.',
  unit: 'The unit of time of Integral, TimeInState, Rate and Slope; PT1H by default.',
  max: 'For Increase and Rate: the value at which the counter rolls over to 0.',
  lower: 'The least value of the state, for TimeInState and Transitions.',
  upper: 'The greatest value of the state, for TimeInState and Transitions.',
};

/** Reports parameters that do not fit together. */
export function checkOwn(parameters: Parameters, report: Report): void {
  const { lower, upper, maxhold, maxgap, method } = parameters;
  const name = textIn(parameters, 'function');
  if ((name === 'TimeInState' || name === 'Transitions') && lower === undefined && upper === undefined) {
    report('/lower', 'request.missing', `a bound of the state with the function ${name}`, 'neither lower nor upper');
  }
  checkOrder(parameters, 'lower', 'upper', within(report, '/lower'));
  if (maxhold !== undefined && method === 'linear') {
    report('/maxhold', 'request.conflict', 'maxhold only with the method `step`', 'method `linear`', 'take maxgap');
  }
  if (name === 'Coverage' && maxhold === undefined && maxgap === undefined) {
    report('/maxhold', 'request.missing', 'how long a sample counts, with Coverage', 'nothing');
  }
}
