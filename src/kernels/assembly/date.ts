// Dates in the text of CSV and JSON.

export const DAY_MS: f64 = 86400000;
export const ZERO: i32 = 0x30;

// The start of the UTC day written YYYY-MM-DD at a place, or NaN. The first and the last year are left to JavaScript.
export function startOf(at: usize): f64 {
  let bad = 0;
  for (let i: usize = 0; i < 10; i++) {
    const byte = <i32>load<u8>(at + i);
    if (i == 4 || i == 7) bad |= byte ^ 0x2d;
    else bad |= i32(<u32>(byte - ZERO) > 9);
  }
  const year = twoDigits(at) * 100 + twoDigits(at + 2);
  const month = twoDigits(at + 5);
  const day = twoDigits(at + 8);
  if (bad != 0 || year < 2 || year > 9998 || month < 1 || month > 12 || day < 1) return NaN;
  const isLeap = (year & 3) == 0 && (year % 100 != 0 || year % 400 == 0);
  const length = month == 2 ? (isLeap ? 29 : 28) : 30 + ((month + (month >> 3)) & 1);
  if (day > length) return NaN;
  // Days since 1 March of year 0, in years that begin in March.
  const y = month <= 2 ? year - 1 : year;
  const days = 365 * y + y / 4 - y / 100 + y / 400 + (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
  return <f64>(days - 719468) * DAY_MS;
}

// @ts-ignore: decorator
@inline
export function twoDigits(at: usize): i32 {
  return (<i32>load<u8>(at) - ZERO) * 10 + <i32>load<u8>(at, 1) - ZERO;
}
