import type { Series } from '../../core/series.js';
import type { FormatWriter } from '../format.js';
import { microsOf } from '../table/epoch.js';

const ROW_GROUP_ROWS = 100_000;

/** Writes `timestamp` (UTC, microseconds), `timeseriesId`, `metric` and `value`, compressed with snappy. */
export async function openParquetWriter(onBytes: (bytes: Uint8Array) => void): Promise<FormatWriter> {
  const { ByteWriter, ParquetWriter } = await import('hyparquet-writer');
  class Output extends ByteWriter {
    flush(): void {
      onBytes(this.getBytes().slice());
      this.index = 0;
    }
  }
  const output = new Output();
  const text = { type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'REQUIRED' } as const;
  const writer = new ParquetWriter({
    writer: output,
    schema: [
      { name: 'root', num_children: 4 },
      {
        name: 'timestamp',
        type: 'INT64',
        logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MICROS' },
        converted_type: 'TIMESTAMP_MICROS',
        repetition_type: 'REQUIRED',
      },
      { name: 'timeseriesId', ...text },
      { name: 'metric', ...text },
      { name: 'value', type: 'DOUBLE', repetition_type: 'REQUIRED' },
    ],
  });
  const rows = { micros: [] as bigint[], ids: [] as string[], metrics: [] as string[], values: [] as number[] };

  function writeGroup(): void {
    const { micros, ids, metrics, values } = rows;
    if (micros.length === 0) return;
    // In a dictionary, 0 and −0 would be one value.
    const hasMinusZero = values.some((x) => Object.is(x, -0));
    writer.write({
      columnData: [
        { name: 'timestamp', data: BigInt64Array.from(micros) },
        { name: 'timeseriesId', data: ids },
        { name: 'metric', data: metrics },
        { name: 'value', data: Float64Array.from(values), ...(hasMinusZero && { encoding: 'PLAIN' }) },
      ],
      rowGroupSize: ROW_GROUP_ROWS,
    });
    Object.assign(rows, { micros: [], ids: [], metrics: [], values: [] });
  }

  function write({ timeseriesId, metric, timeMs, value }: Series): void {
    for (let row = 0; row < timeMs.length; row++) {
      rows.micros.push(microsOf(timeMs[row]!));
      rows.ids.push(timeseriesId);
      rows.metrics.push(metric);
      rows.values.push(value[row]!);
      if (rows.micros.length === ROW_GROUP_ROWS) writeGroup();
    }
  }

  function end(): void {
    writeGroup();
    writer.finish();
    output.flush();
  }

  return { write, end };
}
