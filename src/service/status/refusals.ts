// Members of a pattern that get no item: a line for each in the message of the pattern's transaction, below the message
// of the latest failure. A line stays until its member gets an item.

const PREFIX = 'not computed: ';
/** The most members that a message lists. */
const LISTED_MAX = 20;
const MORE = `${PREFIX}further members were refused too`;

/** A message and a member that was refused. @param result the name of the member's result. */
export function withRefusal(message: string | null, result: string, reason: string): string {
  const line = `${lineStart(result)}${reason.replaceAll(/\s*\n\s*/g, ' ')}`;
  return joined(failureOf(message), [...refusalsOfOthers(message, result), line]);
}

/** A message without the refusal of a member that has an item now. */
export function withoutRefusal(message: string | null, result: string): string | null {
  return joined(failureOf(message), refusalsOfOthers(message, result)) || null;
}

/** A message with that of another failure, or of none. */
export function withFailure(message: string | null, failure: string | null): string | null {
  return joined(failureOf(failure), refusalsOf(message)) || null;
}

interface Part {
  readonly state: string;
  readonly message: string | null;
}

/** The message of a whole: that of a part, a failed one if there is one, with the refusals of all parts. */
export function joinMessages(parts: readonly Part[]): string | null {
  const failing = parts.filter(({ message }) => failureOf(message) !== null);
  const shown = failing.find(({ state }) => state === 'Failed') ?? failing[0];
  return (
    joined(
      failureOf(shown?.message ?? null),
      parts.flatMap(({ message }) => refusalsOf(message)),
    ) || null
  );
}

/** A message without refusals. */
function failureOf(message: string | null): string | null {
  const lines = (message ?? '').split('\n').filter((line) => !line.startsWith(PREFIX));
  return lines.join('\n') || null;
}

function refusalsOf(message: string | null): readonly string[] {
  return (message ?? '').split('\n').filter((line) => line.startsWith(PREFIX));
}

function refusalsOfOthers(message: string | null, result: string): readonly string[] {
  return refusalsOf(message).filter((line) => !line.startsWith(lineStart(result)));
}

function joined(failure: string | null, refusals: readonly string[]): string {
  const listed = refusals.filter((line) => line !== MORE);
  const isMore = listed.length < refusals.length || listed.length > LISTED_MAX;
  return [...(failure === null ? [] : [failure]), ...listed.slice(0, LISTED_MAX), ...(isMore ? [MORE] : [])].join('\n');
}

function lineStart(result: string): string {
  return `${PREFIX}${result}: `;
}
