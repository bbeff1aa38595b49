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
import { alignParameters, checkAlign } from '../align.js';
import { rollover } from '../rollover.js';
import { heldFunctions } from './more-functions.js';
import { pairFunctionNames, pairFunctions } from './pair-functions.js';

/** The parameters of the functions that extend the interface. */

const own = { optional: true, extension: true } as const;

export const ownParameters = {
  method: choice(['step', 'linear'], own),
  maxgap: duration(0, own),
  unit: duration(SHORTEST_MS, own),
  max: rollover(own),
  lower: number(own),
  upper: number(own),
};

/** The parameters of functions of two inputs. */
export const pairParameters = { align: alignParameters.align };

const ofStates = ['TimeInState', 'Transitions'];
/** The time-weighted functions, and those of two inputs. */
const ofHeldOrPaired = ['WeightedAverage', 'TimeWeightedAverage', ...heldFunctions.keys(), ...pairFunctionNames];

/** Which of these parameters belong to which functions. */
export const ownFunctionsWith: Readonly<Record<string, readonly string[]>> = {
  align: pairFunctionNames,
  maxgap: ofHeldOrPaired,
  method: ['Integral', 'TimeWeightedAverage'],
  maxhold: ofHeldOrPaired,
  unit: ['Integral', 'TimeInState', 'Rate', 'Slope'],
  max: ['Increase', 'Rate'],
  lower: ofStates,
  upper: ofStates,
};

/** How many inputs an Aggregate has. */
export const inputsOfAggregate = 'one or two';

/** Reports a number of inputs that does not fit the function, and alignment parameters that do not fit each other. */
export function checkInputs(parameters: Parameters, report: Report, inputCount: number): void {
  const name = textIn(parameters, 'function');
  if (!pairFunctions.has(name)) {
    if (inputCount === 1) return;
    report('/function', 'request.inputs', `${pairFunctionNames.join(' or ')} with two inputs`, name);
    return;
  }
  if (inputCount !== 2) report('/function', 'request.inputs', `two inputs with ${name}`, 'one', 'add a second input');
  checkAlign(parameters, report);
}

/** Reports parameters that do not fit together. */
export function checkOwn(parameters: Parameters, report: Report): void {
  const { lower, upper, maxhold, maxgap, method } = parameters;
  const name = textIn(parameters, 'function');
  if (ofStates.includes(name) && lower === undefined && upper === undefined) {
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
