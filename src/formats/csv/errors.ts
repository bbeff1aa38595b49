import { describeValue, type ErrorCode, type OptionHint, WindrowError } from '../../core/errors.js';
import { SKIP_ROWS } from '../table/read-text.js';

/** A column of a file. */
export interface CsvColumn {
  readonly name: string;
  /** From 1. */
  readonly number: number;
}

/** A problem of a row, before the file and the line are known. */
export interface RowProblem {
  readonly code: ErrorCode;
  /** Absent if the problem is the row as a whole. */
  readonly column?: CsvColumn;
  /** The invalid text. */
  readonly text: string;
  /** What is wrong, as the end of a sentence that starts with the text. */
  readonly reason: string;
  /** What would make it a good row. */
  readonly options?: readonly OptionHint[];
}

/** A place in a file. */
export interface CsvPlace {
  readonly file: string;
  /** Physical line, from 1; absent if the problem is the file as a whole. */
  readonly line?: number;
  readonly column?: CsvColumn;
}

/** A file that cannot be read. Its code begins with `csv.`, and its message says where, and how to mend it. */
export class CsvError extends WindrowError {
  override readonly name = 'CsvError';
  readonly file: string;
  readonly line: number | undefined;
  readonly column: CsvColumn | undefined;
  /** The whole invalid text; '' if there is none. */
  readonly text: string;

  constructor(
    code: ErrorCode,
    place: CsvPlace,
    reason: string,
    { text = '', options = [] }: { readonly text?: string; readonly options?: readonly OptionHint[] } = {},
  ) {
    super(code, `${describePlace(place)}: ${reason}`, { options });
    this.file = place.file;
    this.line = place.line;
    this.column = place.column;
    this.text = text;
  }
}

/** A bad row as an error. */
export function rowError(file: string, line: number, problem: RowProblem): CsvError {
  const { code, column, text, reason, options = [] } = problem;
  const place = column === undefined ? { file, line } : { file, line, column };
  return new CsvError(code, place, `${describeValue(text)} ${reason}`, { text, options: [...options, SKIP_ROWS] });
}

function describePlace({ file, line, column }: CsvPlace): string {
  const parts = [file];
  if (line !== undefined) parts.push(`line ${line}`);
  if (column !== undefined) parts.push(`column ${column.number} (${column.name})`);
  return parts.join(', ');
}
