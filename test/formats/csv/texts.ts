import fc from 'fast-check';

// Texts as in the fields of real and of broken files.

const digits = (minLength: number, maxLength: number) =>
  fc.string({ unit: fc.constantFrom(...'0123456789'), minLength, maxLength });

/** Decimals of all lengths and limits, missing values, and texts that are neither. */
export const numberText: fc.Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(fc.constantFrom('', '-'), digits(1, 9), digits(0, 9)).map(join) },
  { weight: 4, arbitrary: fc.tuple(fc.constantFrom('', '-', '+'), digits(0, 25), digits(0, 25)).map(join) },
  { weight: 3, arbitrary: fc.double().map(String) },
  { weight: 1, arbitrary: fc.double({ min: -1000, max: 1000, noNaN: true }).map((x) => x.toFixed(20)) },
  { weight: 2, arbitrary: fc.bigInt({ min: 2n ** 53n - 20n, max: 2n ** 53n + 20n }).chain(pointed) },
  { weight: 2, arbitrary: fc.bigInt({ min: 2n ** 63n - 20n, max: 2n ** 64n + 20n }).chain(pointed) },
  { weight: 2, arbitrary: midpoint() },
  fc.constantFrom(
    '',
    'null',
    'NaN',
    'nan',
    'NA',
    'None',
    '#N/A',
    'n/a',
    '<NA>',
    '#nv',
    'inf',
    '-Infinity',
    '+INF',
    '-',
    '.',
    '-.5',
    '5.',
    '1e5',
    '1E-400',
  ),
  fc.constantFrom(
    '0x10',
    '1_000',
    '12abc',
    'true',
    '1 2',
    '--1',
    '1.2.3',
    '1e',
    '1,5',
    ' 1 ',
    ' ',
    '-0',
    '-0.0',
    '1e400',
  ),
);

function join([sign, whole, fraction]: [string, string, string]): string {
  return `${sign}${whole}${fraction === '' ? '' : `.${fraction}`}`;
}

function pointed(integer: bigint): fc.Arbitrary<string> {
  const text = String(integer);
  return fc.integer({ min: 1, max: text.length }).map((at) => `${text.slice(0, at)}.${text.slice(at)}`);
}

// Decimals near the middle between two doubles, where rounding is hardest.
function midpoint(): fc.Arbitrary<string> {
  return fc
    .tuple(fc.integer({ min: 2 ** 51, max: 2 ** 52 }), fc.nat(6), fc.integer({ min: 15, max: 25 }))
    .map(([mantissa, shift, precision]) => {
      const scaled = (2n * BigInt(mantissa) * 2n + 1n) * 10n ** 12n;
      const text = String(scaled >> BigInt(44 + shift)).slice(0, precision);
      return `${text.slice(0, 3)}.${text.slice(3)}`;
    });
}

const two = (max: number) => fc.integer({ min: 0, max }).map((number) => String(number).padStart(2, '0'));
const date = fc
  .tuple(fc.constantFrom('2024', '1969', '1970', '2000', '0001', '9999', '0000', '1583', '2023'), two(13), two(32))
  .map((parts) => parts.join('-'));
const clockTime = fc.oneof(
  { weight: 6, arbitrary: fc.tuple(two(23), two(59), two(59)).map((parts) => parts.join(':')) },
  { weight: 1, arbitrary: fc.tuple(two(25), two(61), two(61)).map((parts) => parts.join(':')) },
  { weight: 1, arbitrary: fc.tuple(two(23), two(59)).map((parts) => parts.join(':')) },
  { weight: 1, arbitrary: fc.constantFrom('24:00', '24:00:00', '24:00:01') },
);
const fraction = fc.oneof(
  fc.constant(''),
  fc.constant('.'),
  digits(1, 12).map((text) => `.${text}`),
);
const offset = fc.constantFrom('', 'Z', 'Z', '+01:00', '-0530', '+05', 'z', '+24:00', ' ');

/** Instants of every form, epoch numbers, and texts that are neither. */
export const timeText: fc.Arbitrary<string> = fc.oneof(
  { weight: 8, arbitrary: fc.tuple(date, fc.constantFrom('T', ' '), clockTime, fraction, offset).map(text) },
  { weight: 1, arbitrary: date },
  { weight: 2, arbitrary: digits(1, 17) },
  { weight: 1, arbitrary: fc.tuple(fc.constantFrom('', '-', '+'), digits(1, 14), digits(1, 9)).map(join) },
  fc.constantFrom('99999999999', '100000000000', '253402300799999', '253402300800000', '-62135596800', '', 'noon'),
  fc.constantFrom('2024-02-30T00:00:00Z', '2024-1-1', '2024-01-01T00:00:00:00', '2024/01/01', '2024-01-01t00:00:00Z'),
);

function text(parts: readonly string[]): string {
  return parts.join('');
}
