/** An id with a name to fill in, such as `zone-{n}`. The whole id may be one: `*`, or `{id}`. */
export interface Pattern {
  readonly name: string;
  readonly before: string;
  readonly after: string;
}

const NAME = /^(.*?)\{([A-Za-z]\w*)\}(.*)$/s;

/** Reads an id as a pattern; undefined where it has no name to fill in. */
export function patternOf(timeseriesId: string): Pattern | undefined {
  if (timeseriesId === '*') return { name: '*', before: '', after: '' };
  const [, before, name, after] = NAME.exec(timeseriesId) ?? [];
  return name === undefined ? undefined : { name, before: before!, after: after! };
}

/** The text that fills in the pattern's name in an id: one character or more. Undefined if the id does not match. */
export function matchOf({ before, after }: Pattern, timeseriesId: string): string | undefined {
  const isLonger = timeseriesId.length > before.length + after.length;
  if (!isLonger || !timeseriesId.startsWith(before) || !timeseriesId.endsWith(after)) return undefined;
  return timeseriesId.slice(before.length, timeseriesId.length - after.length);
}

/** An id with its name filled in; an id without one is returned as it is. */
export function filled(timeseriesId: string, text: string): string {
  const pattern = patternOf(timeseriesId);
  return pattern === undefined ? timeseriesId : pattern.before + text + pattern.after;
}

/** Whether some id matches both; one without a name matches only itself. */
export function canMeet(a: string, b: string): boolean {
  const [one, other] = [patternOf(a), patternOf(b)];
  if (one === undefined) return other === undefined ? a === b : matchOf(other, a) !== undefined;
  if (other === undefined) return matchOf(one, b) !== undefined;
  const startsAlike = one.before.startsWith(other.before) || other.before.startsWith(one.before);
  return startsAlike && (one.after.endsWith(other.after) || other.after.endsWith(one.after));
}
