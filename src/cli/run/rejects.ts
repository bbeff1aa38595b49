import { formatInstant } from '../../core/instant.js';
import type { Series } from '../../core/series.js';
import type { RejectedRow } from '../../formats/csv/index.js';
import type { Target } from '../files/target.js';

/** The CSV file of skipped rows and late samples: file and line, the reason, and the row. */
export interface Rejects {
  readonly addRow: (rejected: RejectedRow) => void;
  /** Samples that came later than a stream allows. */
  readonly addLate: (file: string, late: readonly Series[]) => void;
  readonly reset: () => void;
  readonly finish: () => Promise<void>;
}

const HEADER = 'file,line,reason,row\n';
const FLUSH_LENGTH = 1 << 16;

export function createRejects(target: Target): Rejects {
  const encoder = new TextEncoder();
  let text = HEADER;
  const { append } = target;

  function add(fields: readonly string[]): void {
    text += `${fields.map(quoted).join(',')}\n`;
    // A pipe or a device takes everything at the end.
    if (append === undefined || text.length < FLUSH_LENGTH) return;
    append(encoder.encode(text));
    text = '';
  }

  return {
    addRow: ({ file, line, column, text: fault, reason, row }) => {
      const place = column === undefined ? '' : `column ${column.number} (${column.name}): `;
      add([file, String(line), `${place}${JSON.stringify(fault)} ${reason}`, row]);
    },
    addLate: (file, late) => {
      for (const { timeseriesId, metric, timeMs, value } of late) {
        for (const [index, time] of timeMs.entries()) {
          const row = [formatInstant(time), timeseriesId, metric, String(value[index])].map(quoted).join(',');
          add([file, '', 'came later than the allowed lateness', row]);
        }
      }
    },
    reset: () => {
      target.reset();
      text = HEADER;
    },
    finish: () => target.write(encoder.encode(text)),
  };
}

function quoted(field: string): string {
  return /[",\r\n]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field;
}
