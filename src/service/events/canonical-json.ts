/**
 * JSON in one form for equal values (RFC 8785): no spaces, keys in the order of their UTF-16 code units, numbers and
 * strings as JSON.stringify writes them. Nested no deeper than `objectFault` lets through, and finite.
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, of]) => `${JSON.stringify(key)}:${canonicalJson(of)}`).join(',')}}`;
}

const DEPTH_MAX = 64;

/** Why a value of JSON cannot be kept as it is, as the end of a sentence; undefined when it can. */
export function objectFault(value: unknown, depth = 1): string | undefined {
  if (typeof value === 'number' && !Number.isFinite(value)) return 'with a number beyond the range of a double';
  if (value === null || typeof value !== 'object') return undefined;
  if (depth > DEPTH_MAX) return `nested more than ${DEPTH_MAX} deep`;
  for (const part of Object.values(value)) {
    const fault = objectFault(part, depth + 1);
    if (fault !== undefined) return fault;
  }
  return undefined;
}
