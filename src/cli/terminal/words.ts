/** `1 file`, `7,267 rows`. */
export function counted(count: number, noun: string): string {
  return `${grouped(count)} ${noun}${count === 1 || noun.endsWith('s') ? '' : 's'}`;
}

/** A number with thousands separators. */
export function grouped(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ',');
}
