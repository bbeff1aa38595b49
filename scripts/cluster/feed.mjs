// A client that writes two series, keeps a ledger of what was acknowledged, and compares it with what is stored.

const MINUTE_MS = 60_000;
const START_MS = Date.UTC(2026, 0, 1);
const BATCH = 20;
/** How many batches a read during the load goes back. */
const WATCHED_BATCHES = 50;
const PATH = '/core/samples';

/** The items that each feed registers: an hourly chain of two steps, and one that joins both series. */
function requestsOf(timeseriesId, other) {
  const at = (metric, id = timeseriesId) => [{ timeseriesId: id, metric }];
  const aggregate = { function: 'Sum', interval: 'Hourly' };
  const item = (metric, operations) => ({ metric, processingType: 'stream', operations });
  const hourly = item('Hourly', [
    { operation: 'Mul', input: at('Raw'), output: at('Scaled'), parameters: { scalar: 1.1 } },
    { operation: 'Aggregate', input: at('Scaled'), output: at('Hourly'), parameters: aggregate },
  ]);
  const joined = item('Joined', [
    { operation: 'Add', input: [...at('Raw'), ...at('Raw', other)], output: at('Joined'), parameters: {} },
  ]);
  // It reads a stored result of the other series.
  const mixed = item('Mixed', [
    { operation: 'Add', input: [...at('Hourly'), ...at('Hourly', other)], output: at('Mixed'), parameters: {} },
  ]);
  return [hourly, joined, mixed];
}

export class Feed {
  #url;
  #ids;
  #random;
  #headers = {};
  /** The acknowledged value of each series and time. */
  #ledger = new Map();
  /** The values of the batch that is on its way, which a read may find already. */
  #sending = new Map();
  /** By series and time, the values that the read which is on its way may find. */
  #watched = new Map();
  #batchCount = 0;
  /** Requests that were acknowledged, and those that had to be repeated. */
  counts = { acknowledged: 0, repeated: 0 };
  /** Reads during the load: how many, and samples that they should have had and had not, or had with another value. */
  reads = { answered: 0, missing: 0, different: 0 };
  /** When the last request was acknowledged, by `performance.now()`. */
  acknowledgedMs = 0;

  /**
   * @param {string} url of the balancer
   * @param {readonly [string, string]} ids of the series
   * @param {() => number} random
   */
  constructor(url, ids, random) {
    this.#url = url;
    this.#ids = ids;
    this.#random = random;
  }

  get sampleCount() {
    return this.#ledger.size;
  }

  async open({ clientId, clientSecret }) {
    const basic = Buffer.from(`${clientId}:${clientSecret}`).toString('base64');
    const answer = await this.#until(
      () =>
        fetch(`${this.#url}/idm/ims/connect/token`, {
          method: 'POST',
          headers: { authorization: `Basic ${basic}` },
          body: new URLSearchParams({ grant_type: 'client_credentials', scope: 'core_read core_write' }),
        }),
      200,
    );
    this.#headers = { authorization: `Bearer ${JSON.parse(answer.text).access_token}` };
    for (const item of this.#items()) await this.#until(() => this.#post('/core/operations', [item]), 202);
  }

  #items() {
    const [a, b] = this.#ids;
    const [all, others] = [requestsOf(a, b), requestsOf(b, a)];
    return [others[0], ...all];
  }

  /** Writes batch after batch, each until it is acknowledged. Some samples are late, some are corrected. */
  async run(isEnding) {
    while (!isEnding()) {
      const rows = [];
      for (let i = 0; i < BATCH; i++) {
        const isLate = this.#batchCount > 0 && this.#random() < 0.05;
        const minute = isLate ? Math.floor(this.#random() * this.#batchCount * BATCH) : this.#batchCount * BATCH + i;
        const timeMs = START_MS + minute * MINUTE_MS;
        for (const id of this.#ids) rows.push([`${id} ${timeMs}`, Math.round(this.#random() * 1e6) / 1e3]);
      }
      this.#sending = new Map(rows);
      for (const [key, val] of rows) this.#watched.get(key)?.add(val);
      const body = [...this.#sending].map(([key, val]) => {
        const [timeseriesId, timeMs] = key.split(' ');
        return { timeseriesId, timestamp: new Date(Number(timeMs)).toISOString(), val };
      });
      await this.#until(() => this.#post(PATH, body), 200);
      for (const [key, val] of this.#sending) this.#ledger.set(key, val);
      this.#sending = new Map();
      this.#batchCount++;
      this.counts.acknowledged++;
      this.acknowledgedMs = performance.now();
    }
  }

  /**
   * Reads what was written last, again and again: each sample that was acknowledged before a read began has to be in
   * its answer, with the value of then or one that was sent since.
   */
  async watch(isEnding) {
    for (let turn = 0; !isEnding(); turn++) {
      const id = this.#ids[turn % this.#ids.length];
      const endMs = START_MS + this.#batchCount * BATCH * MINUTE_MS;
      const fromMs = Math.max(START_MS, endMs - WATCHED_BATCHES * BATCH * MINUTE_MS);
      this.#watched.clear();
      for (let timeMs = fromMs; timeMs < endMs; timeMs += MINUTE_MS) {
        const key = `${id} ${timeMs}`;
        if (this.#ledger.has(key)) this.#watched.set(key, new Set([this.#ledger.get(key), this.#sending.get(key)]));
      }
      const { timeMs, value } = await this.#read(id, 'Raw', `&startTime=${new Date(fromMs).toISOString()}`);
      const found = new Map(timeMs.map((time, i) => [`${id} ${time}`, value[i]]));
      for (const [key, values] of this.#watched) {
        if (!found.has(key)) this.reads.missing++;
        else if (!values.has(found.get(key))) this.reads.different++;
      }
      this.reads.answered++;
    }
  }

  /**
   * What is stored beside the ledger: a time is stored once or not at all, so what was done twice is seen in the
   * results alone, which are compared with one batch over the stored samples.
   *
   * @param {(request: unknown, series: readonly object[]) => object} runBatch the result of the request's last item
   */
  async compare(runBatch) {
    const raw = new Map();
    for (const id of this.#ids) raw.set(id, await this.#read(id, 'Raw'));
    const keys = [...raw].flatMap(([id, { timeMs }]) => timeMs.map((time) => `${id} ${time}`));
    const values = [...raw].flatMap(([, { value }]) => value);
    const found = new Map(keys.map((key, i) => [key, values[i]]));
    let [missing, different] = [0, 0];
    for (const [key, value] of this.#ledger) {
      if (!found.has(key)) missing++;
      else if (!Object.is(found.get(key), value)) different++;
    }
    const unknown = keys.filter((key) => !this.#ledger.has(key)).length;
    const doubled = keys.length - found.size;
    const results = { right: 0, wrong: 0 };
    const inputs = [...raw].map(([timeseriesId, columns]) => ({ timeseriesId, metric: 'Raw', ...columns }));
    const items = this.#items();
    for (const item of items) {
      const { timeseriesId, metric } = item.operations.at(-1).output[0];
      // With the items whose results it reads, which come before it.
      const expected = runBatch([...items.filter((other) => other !== item), item], inputs);
      const isEqual = await this.#settles(timeseriesId, metric, expected);
      results[isEqual ? 'right' : 'wrong'] += expected.timeMs.length;
    }
    return { acknowledged: this.#ledger.size, found: found.size, missing, different, unknown, doubled, results };
  }

  // Late samples are processed shortly after they are acknowledged.
  async #settles(id, metric, expected) {
    for (let tries = 0; tries < 300; tries++) {
      const stored = await this.#read(id, metric);
      const isEqual =
        stored.timeMs.length === expected.timeMs.length &&
        stored.timeMs.every(
          (timeMs, i) => timeMs === expected.timeMs[i] && Object.is(stored.value[i], expected.value[i]),
        );
      if (isEqual) return true;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    return false;
  }

  async #read(id, metric, range = '') {
    const path = `/core/timeseries/${id}/samples?metric=${metric}${range}`;
    const headers = { ...this.#headers, accept: 'application/x-ndjson' };
    const [timeMs, value] = [[], []];
    // A series without samples does not exist yet.
    const { status, text } = await this.#until(() => fetch(this.#url + path, { headers }), 200, 404);
    const lines = status === 200 ? text.split('\n') : [];
    for (const line of lines) {
      if (line === '') continue;
      const { timestamp, val } = JSON.parse(line);
      timeMs.push(Date.parse(timestamp));
      value.push(val);
    }
    return { timeMs, value };
  }

  #post(path, body) {
    const headers = { ...this.#headers, 'content-type': 'application/json' };
    return fetch(this.#url + path, { method: 'POST', headers, body: JSON.stringify(body) });
  }

  /**
   * Sends a request until one of these statuses comes with a whole body; any other below 500 is our fault, but those
   * of a machine that is busy or stood still.
   */
  async #until(ask, ...statuses) {
    for (;;) {
      const answer = await ask()
        .then(async (one) => ({ url: one.url, status: one.status, text: await one.text() }))
        .catch(() => undefined);
      if (answer !== undefined && statuses.includes(answer.status)) return answer;
      if (answer !== undefined && answer.status < 500 && ![408, 429].includes(answer.status)) {
        throw new Error(`${answer.url}: ${answer.status} ${answer.text}`);
      }
      this.counts.repeated++;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}
