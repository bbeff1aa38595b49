/** The head of a column: its words; for numbers; or for those who hear the page alone. */
type Column = string | { readonly number: string } | { readonly hidden: string };

export function TableHead({ columns }: { readonly columns: readonly Column[] }) {
  return (
    <thead>
      <tr>
        {columns.map((column) =>
          typeof column === 'string' ? (
            <th scope="col">{column}</th>
          ) : 'number' in column ? (
            <th scope="col" class="number">
              {column.number}
            </th>
          ) : (
            <th scope="col">
              <span class="hidden">{column.hidden}</span>
            </th>
          ),
        )}
      </tr>
    </thead>
  );
}
