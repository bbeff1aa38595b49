/**
 * Every code that an error of windrow can have, with its meaning. `docs/errors.md` is generated from this table.
 * Codes are stable: programs may branch on them.
 */
export const errorCodes = {
  'request.type': 'A value of the request has the wrong JSON type.',
  'request.missing': 'A required field or parameter is missing.',
  'request.unknown': 'A field, parameter or name is unknown.',
  'request.value': 'A value has the right type but is not allowed here.',
  'request.range': 'A number is outside its range, or bounds are in the wrong order.',
  'request.duration': 'A text is not an ISO 8601 duration, or the duration does not fit here.',
  'request.instant': 'A text is not an ISO 8601 instant.',
  'request.timezone': 'A name is not an IANA time zone.',
  'request.inputs': 'A step has the wrong number of inputs.',
  'request.conflict': 'Two parts of the request exclude each other.',
  'request.duplicate': 'Two steps or items give the same series.',
  'request.cycle': 'Steps depend on each other in a cycle.',
  'request.window': 'A ShiftByWindow has no window to shift by.',
  'request.json': 'The text of the request is not JSON.',
  'option.value': 'An option of a run has a value that is not allowed.',
  'input.plan': 'The plan does not come from createPlan.',
  'input.columns': 'The columns of an input series do not fit together.',
  'input.time': 'A time is not a number, or outside the years 0001 to 9999.',
  'input.missing': 'The request names a series that is not in the input.',
  'output.limit': 'The request would make more samples than `maxOutputSamples`.',
  'stream.closed': 'A stream was used that is closed or has failed.',
  'checkpoint.format': 'The bytes are not a checkpoint of windrow, or are damaged.',
  'checkpoint.version': 'The checkpoint was written by another version of the format.',
  'checkpoint.plan': 'The checkpoint belongs to another plan or to other options.',
  'csv.empty': 'The file is empty, or no line of it is left to be the header.',
  'csv.binary': 'The file is not text.',
  'csv.header': 'There is no header, or it has no time column or columns that cannot be told apart.',
  'csv.unclear': 'The file does not say plainly what it holds; an option has to say it.',
  'csv.row': 'A row has the wrong number of fields, or a quote that is never closed.',
  'csv.time': 'A time in a row cannot be read.',
  'csv.number': 'A number in a row cannot be read.',
  'csv.gzip': 'A file compressed with gzip cannot be decompressed.',
  'csv.zstd': 'A file compressed with zstd cannot be decompressed.',
  'file.format': 'The file cannot be read, or written, as a file of its format.',
  'file.missing': 'The file does not exist.',
  'file.directory': 'A file is expected, but this is a folder, a device, a pipe or a socket.',
  'file.denied': 'The file may not be read or written.',
  'file.full': 'No space is left on the disk.',
  'file.write': 'The file could not be written.',
  'file.read': 'The file could not be read.',
  'storage.locked': 'The store is locked by another process.',
  'storage.newer': 'The store has a newer or a far older version, or another number of shards.',
  'storage.full': 'No space is left on the disk of the store; reading still works.',
  'storage.claim': 'The claim of a shard has passed to another worker.',
  'storage.duplicate': 'A row with this key exists already.',
  'storage.key': 'The table has no such key, column or shard.',
  'storage.value': 'A column of the store cannot hold the value.',
  'storage.damaged': 'The file of the store is damaged, or is not a store of windrow.',
  'storage.failed': 'The store could not be read or written.',
  'storage.unknown': 'The store was lost during a commit, so whether it took effect is not known.',
  'storage.ended': 'A transaction of the store was used after its end.',
  'storage.closed': 'The store was used after it was closed.',
  'identity.exists': 'A user of this name exists, an organisation has other groups, or a collection was added again.',
  'identity.missing': 'The organisation, client, user or collection does not exist.',
  arguments: 'The arguments of the command are wrong.',
} as const;

export type ErrorCode = keyof typeof errorCodes;

/** An option that would mend the cause of an error. */
export interface OptionHint {
  /** Its name in the library, such as `timeFormat`; the command calls it `--time-format`. */
  readonly option: string;
  /** What it could say: values to choose from or, for columns, all of them. Absent if that cannot be told. */
  readonly values?: readonly string[];
}

/** The base of all errors of windrow: a stable code, and a message that says how to mend the cause. */
export class WindrowError extends Error {
  readonly code: ErrorCode;
  /** The options that would mend the cause, each by itself. */
  readonly options: readonly OptionHint[];

  constructor(code: ErrorCode, message: string, details: { cause?: unknown; options?: readonly OptionHint[] } = {}) {
    super(message, details);
    // Not the class's own name, which is shortened in the published code. Classes below set theirs.
    this.name = 'WindrowError';
    this.code = code;
    this.options = details.options ?? [];
  }
}

/** One problem of a request. */
export interface Issue {
  /** JSON pointer (RFC 6901) into the request; '' is the request itself. */
  readonly pointer: string;
  readonly code: ErrorCode;
  /** What was expected, as a noun phrase. */
  readonly expected: string;
  /** What came, shortened; 'nothing' where the value is absent. */
  readonly received: string;
  /** How to mend it, if that is known. */
  readonly suggestion?: string;
}

/** An invalid request. `issues` lists every problem, in the order of their pointers. */
export class RequestError extends WindrowError {
  override readonly name = 'RequestError';
  readonly issues: readonly Issue[];

  constructor(issues: readonly Issue[]) {
    super(issues[0]?.code ?? 'request.value', describeIssues(issues));
    this.issues = issues;
  }
}

/** Invalid input series or options, or a call that is not allowed now. */
export class InputError extends WindrowError {
  override readonly name = 'InputError';
}

/** An error about an option, whose message begins with its name. */
export function wrongOption(
  option: string,
  expected: string,
  received: string,
  code: ErrorCode = 'option.value',
): InputError {
  return new InputError(code, `${option}: expected ${expected}, received ${received}`, { options: [{ option }] });
}

/** A step would make more samples than `maxOutputSamples` allows. */
export class OutputLimitError extends WindrowError {
  override readonly name = 'OutputLimitError';
  /** JSON pointer of the step. */
  readonly pointer: string;
  readonly sampleCount: number;
  readonly limit: number;

  constructor(pointer: string, operation: string, sampleCount: number, limit: number) {
    super(
      'output.limit',
      `${pointer}: ${operation} makes at least ${sampleCount.toLocaleString('en-US')} samples, over the limit of ` +
        `${limit.toLocaleString('en-US')}; take a longer interval, a shorter run (from, until), ` +
        'or raise maxOutputSamples',
      { options: [{ option: 'maxOutputSamples' }] },
    );
    this.pointer = pointer;
    this.sampleCount = sampleCount;
    this.limit = limit;
  }
}

/** Bytes that are not a checkpoint, or belong to another plan, other options or another version. */
export class CheckpointError extends WindrowError {
  override readonly name = 'CheckpointError';
}

/** One issue as a line: where, what was expected, what came, how to mend it. */
export function describeIssue(issue: Issue): string {
  const place = issue.pointer === '' ? 'the request' : issue.pointer;
  const mend = issue.suggestion === undefined ? '' : `; ${issue.suggestion}`;
  return `${place}: expected ${issue.expected}, received ${issue.received}${mend}`;
}

function describeIssues(issues: readonly Issue[]): string {
  const lines = issues.map((issue) => `  ${describeIssue(issue)}`);
  const count = issues.length === 1 ? 'one problem' : `${issues.length} problems`;
  return `the request has ${count}\n${lines.join('\n')}`;
}

/** A received value, shortened for a message. */
export function describeValue(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (typeof value === 'number' || typeof value === 'bigint') return String(value);
  if (Array.isArray(value)) return value.length === 0 ? 'an empty array' : `an array of ${value.length}`;
  if (value !== null && typeof value === 'object') return 'an object';
  const text = typeof value === 'string' ? JSON.stringify(value) : String(value);
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}
