import { type Describe, type Description, ofEachSample } from '../operation.js';
import { durationMsIn, type Parameters } from '../parameters.js';
import { alignOf } from '../two-inputs.js';

export const maxholdText = 'How old a held value may be, with `hold` and `asof`.';

export const alignTexts = {
  align:
    'How two inputs meet: `inner`, at equal times; `hold`, at every time of either, each side holding its last ' +
    'value; `linear`, likewise but interpolated; `asof`, at the times of the first, with the latest of the second.',
  maxhold: maxholdText,
  maxgap: 'How long a gap is interpolated over, with `linear`.',
};

const scalarText = 'The second operand, instead of a second input.';
// Bundlers drop an unused call with this mark, but not an unused spread.
export const operandTexts = /* @__PURE__ */ Object.assign({ scalar: scalarText }, alignTexts);

/**
 * What `explain` says about an operation with a scalar or a second series.
 *
 * @param ofOne the words with a scalar, in which `$` stands for it.
 */
export function describeOperand(ofTwo: string, ofOne: string): Describe {
  return (parameters) =>
    parameters.scalar === undefined
      ? { does: ofTwo, ...describeTwo(parameters) }
      : { does: ofOne.replace('$', String(parameters.scalar)), ...ofEachSample };
}

/** What a step with two inputs reads and keeps, and when its results are final. */
export function describeTwo(parameters: Parameters): Omit<Description, 'does'> {
  const align = alignOf(parameters);
  if (align === 'inner') {
    const keeps = 'samples of one input that the other has not reached';
    return { reads: { kind: 'sample' }, keeps, final: 'when both inputs have its time' };
  }
  if (align === 'linear') {
    const keeps = 'the last sample of each input, and those that the other has not reached';
    return {
      reads: { kind: 'neighbours', gapMsMax: durationMsIn(parameters, 'maxgap') },
      keeps,
      final: 'when both inputs have passed its time',
    };
  }
  return {
    reads: { kind: 'last', ageMsMax: durationMsIn(parameters, 'maxhold') },
    keeps: 'the last sample of each input, and those that the other has not reached',
    final: 'when both inputs have passed its time',
  };
}
