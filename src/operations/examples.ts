import { absExamples } from './abs.js';
import { aggregatePipelineExamples } from './aggregate-pipeline.js';
import { aggregateExamples } from './aggregate-texts.js';
import { addExamples, divExamples, mulExamples, subExamples } from './arithmetic.js';
import { cleanseExamples } from './cleanse.js';
import { eqExamples, gtExamples, gteExamples, ltExamples, lteExamples, neExamples } from './comparison.js';
import { extensionExamples } from './extensions/examples.js';
import { holdLastValueExamples } from './hold-last-value.js';
import { andExamples, notExamples, orExamples } from './logic.js';
import { maskExamples, whereExamples } from './mask.js';
import type { WrittenExample } from './operation.js';
import { resampleExamples } from './resample.js';
import { roundExamples } from './round.js';
import { shiftExamples } from './shift.js';

/**
 * The worked examples of every operation by its name, in the order of their list. They are not fields of the
 * operations, which every application needs: bundlers leave out a constant that nobody reads, but never a property.
 */
export const examplesByName: Readonly<Record<string, readonly WrittenExample[]>> = {
  Aggregate: aggregateExamples,
  'Aggregate Pipeline': aggregatePipelineExamples,
  Add: addExamples,
  Sub: subExamples,
  Mul: mulExamples,
  Div: divExamples,
  Eq: eqExamples,
  Ne: neExamples,
  Lte: lteExamples,
  Lt: ltExamples,
  Gt: gtExamples,
  Gte: gteExamples,
  Not: notExamples,
  And: andExamples,
  Or: orExamples,
  Mask: maskExamples,
  Where: whereExamples,
  Round: roundExamples,
  Abs: absExamples,
  Cleanse: cleanseExamples,
  Shift: shiftExamples,
  HoldLastValue: holdLastValueExamples,
  Resample: resampleExamples,
  ...extensionExamples,
};
