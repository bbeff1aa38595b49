import * as kernels from '../../../kernels/values.js';
import { arithmetic } from '../../arithmetic.js';
import { withOperand } from '../../two-inputs.js';

export const pow = arithmetic({ pow: withOperand }, 'Pow', kernels.powScalar, kernels.pow, ['power']);

export const mod = arithmetic({ mod: withOperand }, 'Mod', kernels.modScalar, kernels.mod, ['modulo']);
