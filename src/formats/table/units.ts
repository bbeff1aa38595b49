import { isMissing } from './facts.js';

/** Units behind the numbers of a column, as in `21.4 °C`: Grafana writes them, unless told not to. */

// A unit of letters stands apart: `12A` may be a room.
const WITH_UNIT =
  /^[+-]?(?:\d[\d.,' \u00a0\u202f]*)?\d(?:[ \u00a0\u202f](\p{L}[^\d\s]*)|[ \u00a0\u202f]?([%‰°][^\d\s]*))$/u;
// An exponent without digits, and the half of a day, are no units.
const NO_UNIT = /^(?:e|[ap]\.?m\.?)$/i;

/** The unit that all first texts of a column have; undefined where they are not numbers with one unit. */
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

/** The number in front of a unit; the text itself where it has another unit, or none. */
export function withoutUnit(text: string, unit: string | undefined): string {
  if (unit === undefined || !text.endsWith(unit)) return text;
  return text.slice(0, -unit.length).trimEnd();
}
