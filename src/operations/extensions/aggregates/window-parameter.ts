import { type Parameter, type Parameters, readName, readParameters, refuse, within } from '../../parameters.js';
import { running } from './running.js';
import { session } from './session.js';
import { sliding } from './sliding.js';
import type { WindowKind } from './window-kind.js';

const windowKinds: readonly WindowKind[] = [sliding, session, running];

/** Windows other than those of an interval, by their type. */
function windowParameter(): Parameter {
  const types = windowKinds.map(({ type }) => type);
  const oneOf = windowKinds.map(({ type, summary, fields }) => {
    const own = Object.entries(fields);
    const described = own.map(([name, field]) => [name, { ...field.schema, description: field.summary }]);
    const properties = { type: { const: type, description: summary }, ...Object.fromEntries(described) };
    const required = ['type', ...own.filter(([, { isRequired }]) => isRequired).map(([name]) => name)];
    return { type: 'object', properties, required, additionalProperties: false };
  });
  const told = windowKinds.map(({ type, summary }) => `\`${type}\`, ${summary}`).join('; ');
  return {
    summary: `The windows, in place of an interval: ${told}.`,
    isRequired: false,
    isExtension: true,
    schema: { oneOf },
    read: (value, report, context) => {
      if (value === null || typeof value !== 'object' || Array.isArray(value)) {
        return refuse(report, 'request.type', `an object with a type: one of ${types.join(', ')}`, value);
      }
      const { type: given, ...rest } = { type: undefined, ...value };
      const type = readName(given, types, within(report, '/type'));
      const kind = windowKinds.find((one) => one.type === type);
      const fields = kind && readParameters(rest, kind.fields, report, context);
      return kind && fields && { type: kind.type, ...fields };
    },
  };
}

/** The kind of a window that the plan has checked, and what it says. */
export function windowIn({
  window,
}: Parameters): { readonly kind: WindowKind; readonly window: Parameters } | undefined {
  if (typeof window !== 'object' || !('type' in window)) return undefined;
  const kind = windowKinds.find(({ type }) => type === window.type);
  return kind && { kind, window };
}

/** The parameter of an Aggregate that has such windows. */
export const windowParameters = { window: windowParameter() };
