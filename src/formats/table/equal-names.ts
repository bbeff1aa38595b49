import type { ColumnFacts } from './facts.js';
import type { Fail, Roles } from './roles.js';

/**
 * Rejects a table in which two columns have one name, if one of them is read: they would become one series, or one
 * would be left out in silence.
 *
 * @param mendOf what else than to rename one may mend it, told from the second of them.
 */
export function failAtEqualNames(
  columns: readonly ColumnFacts[],
  { timeColumn, clockColumn, metricColumn, ids, values }: Roles,
  fail: Fail,
  mendOf: (column: ColumnFacts) => string | undefined = () => undefined,
): void {
  const isRead = new Set([timeColumn, clockColumn, metricColumn, ...[...ids, ...values].map(({ column }) => column)]);
  const firstColumn = new Map<string, number>();
  for (const [column, facts] of columns.entries()) {
    const { name } = facts;
    const first = firstColumn.get(name);
    if (first !== undefined && name !== '' && (isRead.has(first) || isRead.has(column))) {
      fail(`columns ${first + 1} and ${column + 1} are both named ${name}; ${mendOf(facts) ?? 'rename one'}`);
    }
    firstColumn.set(name, column);
  }
}
