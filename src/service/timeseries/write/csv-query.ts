import { type Static, Type } from 'typebox';
import type { OptionHint } from '../../../core/errors.js';
import { type Encoding, encodingOf, encodings } from '../../../formats/csv/encoding.js';
import type { CsvReaderOptions } from '../../../formats/csv/options.js';
import { timeFormats } from '../../../formats/table/dates.js';
import { tableLayouts } from '../../../formats/table/roles.js';
import { optionName, statesOf, tableOptions } from '../../../formats/table/table-options.js';
import { charsetsOf } from '../../http/bodies.js';
import { badRequest, ServiceError } from '../../http/errors.js';
import { CSV_TYPE } from '../../http/media-types.js';

/** What the caller says about a CSV body, as `windrow run` takes it for a file. */
export type CsvSettings = Pick<
  CsvReaderOptions,
  | 'time'
  | 'value'
  | 'series'
  | 'layout'
  | 'encoding'
  | 'skipLines'
  | 'timeFormat'
  | 'decimal'
  | 'states'
  | 'timezone'
  | 'onBadRow'
>;

function about(parameter: string, more = ''): { readonly description: string } {
  const { summary } = tableOptions.find(({ name }) => name === optionName(parameter))!;
  return { description: `Of ${CSV_TYPE}: ${summary}${more}` };
}

const textsOf = (parameter: string) =>
  Type.Optional(Type.Array(Type.String({ minLength: 1 }), about(parameter, '; may be given several times')));

const choiceOf = <Choice extends string>(choices: readonly Choice[], { description }: { description: string }) =>
  Type.Optional(Type.Unsafe<Choice>({ type: 'string', enum: [...choices], description }));

/** The parameters of a query that says how to read a CSV body: those of the command, by their names in the library. */
export const csvQuery = {
  time: textsOf('time'),
  value: textsOf('value'),
  series: textsOf('series'),
  layout: choiceOf(tableLayouts, about('layout')),
  skipLines: Type.Optional(Type.Integer({ minimum: 0, ...about('skipLines') })),
  timeFormat: choiceOf(timeFormats, about('timeFormat')),
  decimal: choiceOf(['point', 'comma'], about('decimal')),
  states: textsOf('states'),
  timezone: Type.Optional(
    Type.String({ minLength: 1, description: `Of ${CSV_TYPE}: IANA zone of times without an offset; UTC by default` }),
  ),
  onBadRow: choiceOf(['fail', 'skip'], {
    description: `Of ${CSV_TYPE}: what to do with a row that cannot be read: fail (the default), or leave it out`,
  }),
};

/** The query of a body of any type. */
type IngestQuery = { readonly metric?: string } & {
  readonly [Name in keyof typeof csvQuery]?: Static<(typeof csvQuery)[Name]>;
};

/**
 * What a request says about its CSV body, in the query and as the charset of Content-Type.
 *
 * @param type of the body.
 * @returns undefined for a body of another type.
 * @throws ServiceError 400 for these parameters with such a body, 415 for an unknown charset.
 * @throws InputError for states of another form.
 */
export function csvSettingsOf(query: IngestQuery, header: string | undefined, type: string): CsvSettings | undefined {
  if (type !== CSV_TYPE) {
    // No list of names: there are thousands of bodies a second.
    for (const name in query) {
      if (name === 'metric') continue;
      throw badRequest(`query ${name}: expected only with a body of ${CSV_TYPE}, received one of ${type || 'no type'}`);
    }
    return undefined;
  }
  const { metric: _, states, ...rest } = query;
  return { ...rest, states: states && statesOf(states), encoding: encodingIn(header) };
}

/** Undefined without a charset: the text tells. */
function encodingIn(header: string | undefined): Encoding | undefined {
  const charsets = charsetsOf(header);
  const named = new Set(charsets.map(encodingOf));
  const [encoding] = named;
  if (charsets.length === 0 || (encoding !== undefined && named.size === 1)) return encoding;
  const received = charsets.map((charset) => charset || 'an empty one').join(' and ');
  throw new ServiceError(415, `Content-Type: expected charset=${encodings.join(' or ')}, received ${received}`);
}

/**
 * Says of the fault of a CSV body what the request would have to say: parameters of the query, or the charset.
 *
 * @param message as `messageForBody` gives it.
 */
export function withMends(message: string, options: readonly OptionHint[]): string {
  const { onBadRow: skip, encoding, ...others } = Object.fromEntries(options.map((hint) => [hint.option, hint]));
  const said = Object.values(others).filter(({ option }) => Object.hasOwn(csvQuery, option));
  return [
    message.replace('the option ', 'the parameter '),
    ...(said.length === 0 ? [] : [`say ${said.map(parameterOf).join(' or ')} in the query`]),
    ...(encoding === undefined
      ? []
      : [`say the charset, as in Content-Type: ${CSV_TYPE}; charset=${charsetOf(encoding)}`]),
    ...(skip === undefined ? [] : [`${parameterOf(skip)} leaves out such rows, and counts them`]),
  ].join('; ');
}

function charsetOf({ values: [encoding] = [] }: OptionHint): string {
  return encoding ?? 'windows-1252';
}

// Columns are given together, and of other values one is chosen.
function parameterOf({ option, values = [] }: OptionHint): string {
  const isOfColumns = option === 'time' || option === 'series' || option === 'value';
  const pairs = values.map((value) => `${option}=${encodeURIComponent(value).replaceAll('%3D', '=')}`);
  return pairs.length === 0 ? `${option}=…` : pairs.join(isOfColumns ? '&' : ' or ');
}
