// The requests of the benchmarks of ingest: the same samples of a hundred series for each server, in its usual form.

const START_MS = Date.UTC(2002, 0, 1);
const SERIES_COUNT = 100;
const DAY_MS = 86_400_000;
/** The bodies of a run are within one day, and are sent again for later days. */
const RUN_DAYS = 300;

// The same samples in each server's usual form, and where the day is in each time, so that a body can be moved to
// another day.
const forms = {
  windrow: {
    write: (samples) =>
      JSON.stringify(
        samples.map(({ series, timeMs, value }) => ({
          timeseriesId: series,
          metric: 'Raw',
          timestamp: new Date(timeMs).toISOString(),
          val: value,
        })),
      ),
    times: /(?<="timestamp":")[^"]+/g,
    // A body is within one day.
    writeDay: (bytes, places, timesMs, day) => {
      const date = Buffer.from(new Date(timesMs[0] + day * DAY_MS).toISOString().slice(0, 10));
      for (const at of places) for (let i = 0; i < date.length; i++) bytes[at + i] = date[i];
    },
  },
  influx: {
    write: (samples) =>
      samples.map(({ series, timeMs, value }) => `raw,id=${series} val=${value} ${timeMs}`).join('\n'),
    times: /\d{13}$/gm,
    writeDay: (bytes, places, timesMs, day) => {
      for (let n = 0; n < places.length; n++) {
        let rest = timesMs[n] + day * DAY_MS;
        for (let at = places[n] + 12; at >= places[n]; at--, rest = Math.floor(rest / 10)) bytes[at] = 48 + (rest % 10);
      }
    },
  },
};

/**
 * A source of complete requests, as bytes, for each connection. They are made beforehand, so that the load takes little
 * time from the server.
 *
 * @param {'windrow' | 'influx'} rival
 * @param {{ token?: string, run: number, batch: number, connections: number }} load windrow's token; runs with other
 * numbers have other times.
 * @returns {(() => Buffer)[]} each to be sent before the next is asked for.
 */
export function requestSources(rival, { token, run, batch, connections }) {
  const count = Math.max(connections, Math.min(6000, Math.ceil(400_000 / batch)));
  const requests = Array.from({ length: count }, (_, index) => createRequest(rival, token, run, batch, index));
  return Array.from({ length: connections }, (_, lane) => {
    const own = requests.filter((_request, index) => index % connections === lane);
    let sent = 0;
    return () => {
      const { bytes, setDay } = own[sent % own.length];
      setDay(Math.floor(sent++ / own.length));
      return bytes;
    };
  });
}

/** A request as bytes, whose samples can be moved to another day. */
function createRequest(rival, token, run, batch, index) {
  const { write, times, writeDay } = forms[rival];
  const samples = samplesAt(run, batch, index);
  const body = Buffer.from(write(samples));
  const head =
    rival === 'windrow'
      ? `POST /core/samples HTTP/1.1\r\nauthorization: Bearer ${token}\r\ncontent-type: application/json`
      : 'POST /write?db=bench&precision=ms HTTP/1.1\r\ncontent-type: text/plain';
  const prefix = Buffer.from(`${head}\r\nhost: localhost\r\ncontent-length: ${body.length}\r\n\r\n`);
  const bytes = Buffer.concat([prefix, body]);
  const places = Array.from(body.latin1Slice().matchAll(times), (match) => prefix.length + match.index);
  const timesMs = samples.map(({ timeMs }) => timeMs);
  let day = 0;
  const setDay = (next) => {
    if (next !== day) writeDay(bytes, places, timesMs, next);
    day = next;
  };
  return { bytes, setDay };
}

function samplesAt(run, batch, index) {
  return Array.from({ length: batch }, (_, i) => {
    const n = index * batch + i;
    const timeMs = START_MS + run * RUN_DAYS * DAY_MS + Math.floor(n / SERIES_COUNT) * 1000;
    return { series: `sensor-${n % SERIES_COUNT}`, timeMs, value: Math.round(2000 + 500 * Math.sin(n / 1000)) / 100 };
  });
}
