import { type Parameters, parameter, readName, readParameters, refuse, within } from '../../parameters.js';
import { running } from './running.js';
import { session } from './session.js';
import { sliding } from './sliding.js';
import type { WindowKind } from './window-kind.js';

export const windowKinds: readonly WindowKind[] = [sliding, session, running];
export const windowTypes = windowKinds.map(({ type }) => type);

/** Windows other than those of an interval, by their type. */
const window = parameter({ optional: true, extension: true }, { type: 'object' }, (value, report, context) => {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    return refuse(report, 'request.type', `an object with a type: one of ${windowTypes.join(', ')}`, value);
  }
  const { type: given, ...rest } = { type: undefined, ...value };
  const type = readName(given, windowTypes, within(report, '/type'));
  const kind = windowKinds.find((one) => one.type === type);
  const fields = kind && readParameters(rest, kind.fields, report, context);
  return kind && fields && { type: kind.type, ...fields };
});

/** The parameter `window` of Aggregate. */
export const windowParameters = { window };

/** The kind and the fields of a step's window; undefined if the step has an interval instead. */
export function windowIn({
  window,
}: Parameters): { readonly kind: WindowKind; readonly window: Parameters } | undefined {
  if (typeof window !== 'object' || !('type' in window)) return undefined;
  const kind = windowKinds.find(({ type }) => type === window.type);
  return kind && { kind, window };
}
