// How text is encoded: told from the file where it is sure, asked for where it is not.
import { describe, expect, test } from 'vitest';
import { CsvError, createCsvReader, type ReadCsvOptions, readCsv } from '../../../src/formats/csv/index.js';
import type { Encoding } from '../../../src/formats/csv/options.js';

const rows = '01.01.2024 00:00;1,5\n01.01.2024 00:15;2,5\n13.01.2024 00:30;3\n';

function latin1(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

function read(bytes: Uint8Array, options: ReadCsvOptions = {}) {
  const { series, summary } = readCsv(bytes, { fileName: 'x.csv', ...options });
  return { ids: series.map(({ timeseriesId }) => timeseriesId), values: [...series[0]!.value], notes: summary.notes };
}

function problemOf(bytes: Uint8Array, options: ReadCsvOptions = {}): CsvError {
  try {
    readCsv(bytes, { fileName: 'x.csv', ...options });
  } catch (error) {
    if (error instanceof CsvError) return error;
    throw error;
  }
  return expect.fail('it was read');
}

test.each([1, 2, 3, 4, 5])('UTF-16 without a mark is read whatever comes first: %i bytes', (count) => {
  const bytes = Buffer.from('time,größe\n2024-01-01,1\n', 'utf16le');
  for (const [encoding, of] of [['utf-16le', bytes] as const, ['utf-16be', Buffer.from(bytes).swap16()] as const]) {
    const ids: string[] = [];
    const reader = createCsvReader({ fileName: 'x.csv', encoding }, (series) => {
      ids.push(...series.map(({ timeseriesId }) => timeseriesId));
    });
    reader.push(of.subarray(0, count));
    reader.push(of.subarray(count));
    expect([reader.end().rows, ids]).toEqual([1, ['größe']]);
  }
});

describe('Windows-1252', () => {
  test.each(['Außentemperatur (°C)', 'Température extérieure', 'Verbrauch Büro [m³]'])(
    'is told where the Western and the Central European code page agree about it: %s',
    (name) => {
      const { ids, values, notes } = read(latin1(`Zeit;${name}\n${rows}`));
      expect([ids, values]).toEqual([[name], [1.5, 2.5, 3]]);
      expect(notes).toEqual(['text in windows-1252', 'dates with the day first', 'decimal commas']);
    },
  );

  test('is told by the first rows where the header is plain', () => {
    const lines = Array.from({ length: 9 }, (_, i) => `2024-01-01T00:00:0${i}Z,B\xfcro,${i}\n`);
    expect(read(latin1(`time,timeseriesId,value\n${lines.join('')}`))).toEqual({
      ids: ['Büro'],
      values: [0, 1, 2, 3, 4, 5, 6, 7, 8],
      notes: ['text in windows-1252'],
    });
  });

  test('has letters where Latin-1 has control characters', () => {
    const { ids } = read(Uint8Array.of(...latin1('time;Kosten in '), 0x80, ...latin1(`\n${rows}`)));
    expect(ids).toEqual(['Kosten in €']);
  });

  test('is said by the option for a name that could be others', () => {
    expect(read(latin1(`time;relev\xe9 \xe0 10 m\n${rows}`), { encoding: 'windows-1252' }).ids).toEqual([
      'relevé à 10 m',
    ]);
  });
});

describe('the option encoding', () => {
  test.each<[Encoding, number[], string]>([
    ['windows-1250', [0x8c, 0x72, 0x65, 0x64, 0x6e, 0x69, 0x61], 'Średnia'],
    ['windows-1251', [0xd2, 0xe5, 0xec, 0xef], 'Темп'],
    ['windows-1253', [0xc8, 0xe5, 0xf1, 0xec], 'Θερμ'],
    ['windows-1254', [0x53, 0xfd, 0x63, 0x61, 0x6b, 0x6c, 0xfd, 0x6b], 'Sıcaklık'],
    ['shift_jis', [0x89, 0xb7, 0x93, 0x78], '温度'],
    ['gb18030', [0xce, 0xc2, 0xb6, 0xc8], '温度'],
    ['big5', [0xb7, 0xc5, 0xab, 0xd7], '溫度'],
    ['euc-kr', [0xbf, 0xc2, 0xb5, 0xb5], '온도'],
  ])('reads %s', (encoding, bytes, name) => {
    const file = Uint8Array.of(...latin1('time;'), ...bytes, ...latin1(`\n${rows}`));
    expect(read(file, { encoding })).toEqual({
      ids: [name],
      values: [1.5, 2.5, 3],
      notes: [`text in ${encoding}`, 'dates with the day first', 'decimal commas'],
    });
    expect(read(new TextEncoder().encode(`\ufefftime;${name}\n${rows}`), { encoding }).ids).toEqual([name]);
  });

  test.each<Encoding>(['utf-16le', 'utf-16be'])('reads %s without a byte order mark', (encoding) => {
    const text = `time;Büro\n${rows}`;
    const bytes = Uint8Array.from({ length: 2 * text.length }, (_, i) => {
      const unit = text.charCodeAt(i >> 1);
      return (i % 2 === 0) === (encoding === 'utf-16le') ? unit & 255 : unit >> 8;
    });
    expect(read(bytes, { encoding }).ids).toEqual(['Büro']);
    expect(problemOf(bytes).message).toContain(`--encoding ${encoding}`);
  });

  test.each(['latin1', 'ISO-8859-1', 'cp1252', 'Windows-1252'])('has the names of the WHATWG: %s', (name) => {
    // `as`: people who write JavaScript have no types.
    const { ids, notes } = read(Uint8Array.of(...latin1('time;Kosten in '), 0x80, ...latin1(`\n${rows}`)), {
      encoding: name as Encoding,
    });
    expect([ids, notes[0]]).toEqual([['Kosten in €'], 'text in windows-1252']);
  });

  test('may have a bar within a character, which is no separator', () => {
    // ポ is the bytes 83 7C.
    const file = latin1('time,\x83\x7c\x83\x7c\n2024-01-01,1\n');
    expect(read(file, { encoding: 'shift_jis' }).ids).toEqual(['ポポ']);
  });

  test('is refused if nothing has its name, or nothing that windrow reads', () => {
    for (const name of ['klingon', 'iso-8859-2']) {
      const reading = () => read(latin1(`time;x\n${rows}`), { encoding: name as Encoding });
      expect(reading).toThrow(`encoding: expected utf-8 or utf-16le or utf-16be or windows-1250`);
      expect(reading).toThrow(`received ${name}`);
    }
  });

  test('is not heeded for a text, which has no bytes', () => {
    const { series } = readCsv(`time;Büro\n${rows}`, { encoding: 'windows-1252' });
    expect(series[0]?.timeseriesId).toBe('Büro');
  });
});

describe('a file whose encoding is not sure', () => {
  test.each([
    ['relev\xe9 \xe0 10 m', 'relevé à 10 m in windows-1252, relevé ŕ 10 m in windows-1250'],
    ['\xd2\xe5\xec\xef', 'Òåìï in windows-1252, Ňĺěď in windows-1250, Темп in windows-1251'],
  ])('is asked about, with the name as each would read it: %s', (name, readings) => {
    const error = problemOf(latin1(`time;${name}\n${rows}`));
    expect([error.code, error.options]).toEqual(['csv.unclear', [{ option: 'encoding' }]]);
    expect(error.message).toContain(readings);
    expect(error.message).toContain('--encoding windows-1252');
  });

  test('is asked about at the row that cannot be read, if the rows before it were plain', () => {
    const many = Array.from({ length: 2000 }, (_, i) => `${1_700_000_000 + i},Labor,${i}\n`).join('');
    const file = latin1(`time,timeseriesId,value\n${many}1800000000,B\xfcro,7\n`);
    const error = problemOf(file);
    expect([error.code, error.line, error.column?.name]).toEqual(['csv.binary', 2002, 'timeseriesId']);
    expect(error.options).toEqual([
      { option: 'encoding', values: ['windows-1252'] },
      { option: 'onBadRow', values: ['skip'] },
    ]);
    expect(error.message).toContain('"1800000000,B\ufffdro,7" is not UTF-8 text');
    expect(read(file, { encoding: 'windows-1252' }).ids).toEqual(['Labor', 'Büro']);
  });

  test('is UTF-8 with a damaged row where another row is UTF-8', () => {
    const text = new TextEncoder().encode('time,timeseriesId,value\n1,Büro,1\n');
    const file = Uint8Array.of(...text, ...latin1('2,B\xfcro,2\n3,Labor,3\n'));
    expect(problemOf(file)).toMatchObject({ code: 'csv.binary', line: 3 });
    expect(read(file, { onBadRow: 'skip' }).ids).toEqual(['Büro', 'Labor']);
  });
});

test('a file in Windows-1252 is read the same wherever its bytes are cut', () => {
  const file = latin1(`Zeit;Au\xdfen (\xb0C);B\xfcro\n${rows.replaceAll('\n', ';1\n')}`);
  const [{ series, summary }] = [readCsv(file, { fileName: 'x.csv' })];
  for (let cut = 1; cut < file.length; cut++) {
    const chunks: unknown[] = [];
    const reader = createCsvReader({ fileName: 'x.csv' }, (all) => {
      for (const { timeseriesId, timeMs, value } of all) chunks.push([timeseriesId, [...timeMs], [...value]]);
    });
    reader.push(file.subarray(0, cut));
    reader.push(file.subarray(cut));
    expect(reader.end()).toEqual(summary);
    expect(chunks).toEqual(series.map(({ timeseriesId, timeMs, value }) => [timeseriesId, [...timeMs], [...value]]));
  }
});
