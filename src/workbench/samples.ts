/** Series at even times, as the build packs them (`scripts/build-workbench.mjs`). */
interface Packed {
  readonly stepMs: number;
  readonly names: readonly string[];
  /** For each name a letter a row: the difference from the value before, in tenths; a space if there is no value. */
  readonly parts: readonly { readonly startMs: number; readonly columns: readonly string[] }[];
}

/** Put in by the build, from docs/examples. */
declare const SAMPLE_DATA: { readonly heating: Packed; readonly office: Packed };

/** Real series to start with. */
export interface SampleFile {
  readonly fileName: string;
  readonly title: string;
  readonly about: string;
  readonly file: () => File;
}

const FIRST_LETTER = 35;

export const samples: readonly SampleFile[] = [
  {
    fileName: 'office-two-weeks.csv',
    title: 'Office temperature',
    about: 'Two weeks of an office, hourly, in °F, rounded to 0.1 (Numenta Anomaly Benchmark)',
    file: () => csvFile('office-two-weeks.csv', SAMPLE_DATA.office),
  },
  {
    fileName: 'heating-circuit.csv',
    title: 'Heating circuit',
    about: 'Supply and return temperature of a heating circuit, measured at different times, in °C',
    file: () => csvFile('heating-circuit.csv', SAMPLE_DATA.heating),
  },
];

function csvFile(name: string, { stepMs, names, parts }: Packed): File {
  const tenths = names.map(() => 0);
  const rows = parts.flatMap(({ startMs, columns }) =>
    Array.from(columns[0] ?? '', (_, row) => {
      const values = columns.map((letters, column) => {
        const code = letters.charCodeAt(row) - FIRST_LETTER;
        if (code < 0) return '';
        tenths[column]! += code % 2 === 0 ? code / 2 : -(code + 1) / 2;
        return (tenths[column]! / 10).toFixed(1);
      });
      return [`${new Date(startMs + row * stepMs).toISOString().slice(0, 19)}Z`, ...values].join(',');
    }),
  );
  return new File([`${['timestamp', ...names].join(',')}\n${rows.join('\n')}\n`], name, { type: 'text/csv' });
}
