import type { ColumnFacts } from './facts.js';
import type { Fail, Roles } from './roles.js';

/** Rejects a table of which one column has two roles: it would be read for one of them, and the other be lost. */
export function failAtTwoRoles(
  columns: readonly ColumnFacts[],
  { timeColumn, clockColumn, ids, values }: Pick<Roles, 'timeColumn' | 'clockColumn' | 'ids' | 'values'>,
  fail: Fail,
): void {
  const used = new Set<number>();
  const isAgain = (column: number): boolean => column >= 0 && used.size === used.add(column).size;
  const twice = [timeColumn, clockColumn, ...[...ids, ...values].map(({ column }) => column)].find(isAgain);
  if (twice === undefined) return;
  const roles = 'one of time, series and value, and once';
  const mend = 'name another with the option of one of them (--time, --series, --value)';
  const hints = ['time', 'series', 'value'].map((option) => ({ option }));
  fail(`the column ${JSON.stringify(columns[twice]!.name)} can only be ${roles}; ${mend}`, 'columns', hints);
}
