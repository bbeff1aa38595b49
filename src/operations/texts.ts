import { absTexts } from './abs.js';
import { aggregatePipelineTexts } from './aggregate-pipeline.js';
import { aggregateTexts } from './aggregate-texts.js';
import { addTexts, divTexts, mulTexts, subTexts } from './arithmetic.js';
import { cleanseTexts } from './cleanse.js';
import { eqTexts, gteTexts, gtTexts, lteTexts, ltTexts, neTexts } from './comparison.js';
import { extensionTexts } from './extensions/texts.js';
import { holdLastValueTexts } from './hold-last-value.js';
import { andTexts, notTexts, orTexts } from './logic.js';
import { maskTexts, whereTexts } from './mask.js';
import type { Operation, OperationTexts } from './operation.js';
import type { JsonSchema } from './parameters.js';
import { resampleTexts } from './resample.js';
import { roundTexts } from './round.js';
import { shiftTexts } from './shift.js';

/**
 * The texts of every operation by its name, in the order of their list. They are not fields of the operations, which
 * every application needs: bundlers leave out a constant that nobody reads, but never a property.
 */
export const textsByName: Readonly<Record<string, OperationTexts>> = {
  Aggregate: aggregateTexts,
  'Aggregate Pipeline': aggregatePipelineTexts,
  Add: addTexts,
  Sub: subTexts,
  Mul: mulTexts,
  Div: divTexts,
  Eq: eqTexts,
  Ne: neTexts,
  Lte: lteTexts,
  Lt: ltTexts,
  Gt: gtTexts,
  Gte: gteTexts,
  Not: notTexts,
  And: andTexts,
  Or: orTexts,
  Mask: maskTexts,
  Where: whereTexts,
  Round: roundTexts,
  Abs: absTexts,
  Cleanse: cleanseTexts,
  Shift: shiftTexts,
  HoldLastValue: holdLastValueTexts,
  Resample: resampleTexts,
  ...extensionTexts,
};

/** The JSON Schemas of an operation's parameters, with what they mean. */
export function parameterSchemas({ name, parameters }: Operation): Readonly<Record<string, JsonSchema>> {
  const { parameters: texts, schemas = {} } = textsByName[name]!;
  const described = Object.entries(parameters).map(([parameter, { schema }]) => {
    return [parameter, { description: texts[parameter], ...(schemas[parameter] ?? schema) }];
  });
  return Object.fromEntries(described);
}
