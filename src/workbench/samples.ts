/** Put in by the build, from docs/examples. */
declare const SAMPLE_DATA: {
  /** The file as it is. */
  readonly heating: string;
  /** Runs of hourly values: each in tenths, less the one before it. */
  readonly office: readonly { readonly startMs: number; readonly tenths: readonly number[] }[];
};

/** Real series to begin with. */
export interface SampleFile {
  readonly fileName: string;
  readonly title: string;
  readonly about: string;
  readonly file: () => File;
}

const HOUR_MS = 3_600_000;

export const samples: readonly SampleFile[] = [
  {
    fileName: 'office-temperature.csv',
    title: 'Office temperature',
    about: 'Ten months of an office, hourly, in °F, rounded to 0.1 (Numenta Anomaly Benchmark)',
    file: () => new File([officeCsv()], 'office-temperature.csv', { type: 'text/csv' }),
  },
  {
    fileName: 'heating-circuit.csv',
    title: 'Heating circuit',
    about: 'Supply and return temperature of a heating circuit, measured at different times, in °C',
    file: () => new File([SAMPLE_DATA.heating], 'heating-circuit.csv', { type: 'text/csv' }),
  },
];

function officeCsv(): string {
  let tenth = 0;
  const rows = SAMPLE_DATA.office.flatMap(({ startMs, tenths }) =>
    tenths.map((more, index) => {
      tenth += more;
      return `${new Date(startMs + index * HOUR_MS).toISOString().slice(0, 19)},${tenth / 10}`;
    }),
  );
  return `timestamp,value\n${rows.join('\n')}\n`;
}
