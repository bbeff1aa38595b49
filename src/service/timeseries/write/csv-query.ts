import { type Static, Type } from 'typebox';
import type { OptionHint } from '../../../core/errors.js';
import { type Encoding, encodingOf, encodings } from '../../../formats/csv/encoding.js';
import type { CsvReaderOptions } from '../../../formats/csv/options.js';
import { type TimeFormat, timeFormats } from '../../../formats/table/dates.js';
import { type TableLayout, tableLayouts } from '../../../formats/table/roles.js';
import { optionName, statesOf, tableOptions } from '../../../formats/table/table-options.js';
import { charsetsOf } from '../../http/bodies.js';
import { oneOf } from '../../http/envelope.js';
import { badRequest, ServiceError } from '../../http/errors.js';
import { CSV_TYPE } from '../../http/media-types.js';

/** What the caller says about a CSV body, as `windrow run` takes it for a file. */
export type CsvSettings = Pick<CsvReaderOptions, keyof typeof csvQuery | 'encoding'>;

function about(parameter: string): string {
  const { summary } = tableOptions.find(({ name }) => name === optionName(parameter))!;
  return `Of ${CSV_TYPE}: ${summary}`;
}

const textsOf = (parameter: string) => {
  const description = `${about(parameter)}; may be given several times`;
  return Type.Optional(Type.Array(Type.String({ minLength: 1 }), { description }));
};

/** The parameters of a query that says how to read a CSV body: those of the command, by their names in the library. */
export const csvQuery = {
  time: textsOf('time'),
  value: textsOf('value'),
  series: textsOf('series'),
  layout: Type.Optional(oneOf<TableLayout>(tableLayouts, about('layout'))),
  skipLines: Type.Optional(Type.Integer({ minimum: 0, description: about('skipLines') })),
  timeFormat: Type.Optional(oneOf<TimeFormat>(timeFormats, about('timeFormat'))),
  decimal: Type.Optional(oneOf<'point' | 'comma'>(['point', 'comma'], about('decimal'))),
  states: textsOf('states'),
  timezone: Type.Optional(
    Type.String({ minLength: 1, description: `Of ${CSV_TYPE}: IANA zone of times without an offset; UTC by default` }),
  ),
  onBadRow: Type.Optional(
    oneOf<'fail' | 'skip'>(
      ['fail', 'skip'],
      `Of ${CSV_TYPE}: whether a row that cannot be read is a fault (the default) or left out`,
    ),
  ),
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
 * @param isOfPath whether the path names the series; then no column can.
 */
export function withMends(message: string, options: readonly OptionHint[], isOfPath: boolean): string {
  const { onBadRow: skip, encoding, ...others } = Object.fromEntries(options.map((hint) => [hint.option, hint]));
  const said = Object.values(others).filter(
    ({ option }) => Object.hasOwn(csvQuery, option) && !(isOfPath && option === 'series'),
  );
  const spoken = message.replace('the option ', 'the parameter ');
  const told = [spoken.replace('name it .gz, or unpack it first', 'say Content-Encoding: gzip')];
  if (said.length > 0) told.push(`say ${said.map(parameterOf).join(' or ')} in the query`);
  if (encoding !== undefined) {
    const [charset = 'windows-1252'] = encoding.values ?? [];
    told.push(`say the charset, as in Content-Type: ${CSV_TYPE}; charset=${charset}`);
  }
  if (skip !== undefined) told.push(`${parameterOf(skip)} leaves out such rows, and counts them`);
  return told.join('; ');
}

// Columns are given together, and of other values one is chosen.
function parameterOf({ option, values = [] }: OptionHint): string {
  const isOfColumns = option === 'time' || option === 'series' || option === 'value';
  const pairs = values.map((value) => `${option}=${encodeURIComponent(value).replaceAll('%3D', '=')}`);
  return pairs.length === 0 ? `${option}=…` : pairs.join(isOfColumns ? '&' : ' or ');
}
