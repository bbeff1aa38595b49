/** What went wrong; screen readers announce it at once. */
export function ProblemLines({ lines }: { readonly lines: readonly string[] }) {
  return (
    <div role="alert">
      {lines.length > 0 && (
        <ul class="problems">
          {lines.map((line) => (
            <li key={line}>{line}</li>
          ))}
        </ul>
      )}
    </div>
  );
}
