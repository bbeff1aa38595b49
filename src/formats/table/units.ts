import { isMissing } from './facts.js';

/** Units after the numbers of a column, as in `21.4 °C`: Grafana writes them by default. */

// A unit of letters must have a space before it: `12A` may be a room.
const WITH_UNIT =
  /^[+-]?(?:\d[\d.,' \u00a0\u202f]*)?\d(?:[ \u00a0\u202f](\p{L}[^\d\s]*)|[ \u00a0\u202f]?([%‰°][^\d\s]*))$/u;
// An exponent without digits, AM and PM are not units.
const NO_UNIT = /^(?:e|[ap]\.?m\.?)$/i;

/** The unit that all first texts of a column have; undefined if they are not numbers with one unit. */
export function unitOf(texts: readonly string[]): string | undefined {
  let found: string | undefined;
  for (const text of texts) {
    if (isMissing(text)) continue;
    const [, word, sign] = WITH_UNIT.exec(text) ?? [];
    const unit = word ?? sign;
    if (unit === undefined || NO_UNIT.test(unit) || (found !== undefined && unit !== found)) return undefined;
    found = unit;
  }
  return found;
}

/** The number before a unit; the text itself if it has another unit, or none. */
export function withoutUnit(text: string, unit: string | undefined): string {
  if (unit === undefined || !text.endsWith(unit)) return text;
  return text.slice(0, -unit.length).trimEnd();
}
