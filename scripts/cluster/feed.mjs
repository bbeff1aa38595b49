// A client that writes one series and keeps a ledger of what was acknowledged, and compares it with what is stored.

const MINUTE_MS = 60_000;
const START_MS = Date.UTC(2026, 0, 1);
const BATCH = 20;
const PATH = '/core/samples';

/** The item that each feed registers: a chain of two steps, by the hour. */
function requestOf(timeseriesId) {
  const at = (metric) => [{ timeseriesId, metric }];
  const aggregate = { function: 'Sum', interval: 'Hourly' };
  return [
    {
      metric: 'Hourly',
      processingType: 'stream',
      operations: [
        { operation: 'Mul', input: at('Raw'), output: at('Scaled'), parameters: { scalar: 1.1 } },
        { operation: 'Aggregate', input: at('Scaled'), output: at('Hourly'), parameters: aggregate },
      ],
    },
  ];
}

export class Feed {
  #url;
  #id;
  #random;
  #headers = {};
  /** The value of each time that was acknowledged. */
  #ledger = new Map();
  #batchCount = 0;
  /** Requests that were acknowledged, and those that had to be sent again. */
  counts = { acknowledged: 0, repeated: 0 };
  /** When the last request was acknowledged, by `performance.now()`. */
  acknowledgedMs = 0;

  /**
   * @param {string} url of the balancer
   * @param {string} id of the series
   * @param {() => number} random
   */
  constructor(url, id, random) {
    this.#url = url;
    this.#id = id;
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
    this.#headers = { authorization: `Bearer ${(await answer.json()).access_token}` };
    await this.#until(() => this.#post('/core/operations', requestOf(this.#id)), 202);
  }

  /** Writes batch after batch, each until it is acknowledged. Some samples come late, and some are corrected. */
  async run(isEnding) {
    while (!isEnding()) {
      const rows = [];
      for (let i = 0; i < BATCH; i++) {
        const isLate = this.#batchCount > 0 && this.#random() < 0.05;
        const minute = isLate ? Math.floor(this.#random() * this.#batchCount * BATCH) : this.#batchCount * BATCH + i;
        rows.push([START_MS + minute * MINUTE_MS, Math.round(this.#random() * 1e6) / 1e3]);
      }
      const body = [...new Map(rows)].map(([timeMs, val]) => ({
        timeseriesId: this.#id,
        timestamp: new Date(timeMs).toISOString(),
        val,
      }));
      await this.#until(() => this.#post(PATH, body), 200);
      for (const [timeMs, val] of rows) this.#ledger.set(timeMs, val);
      this.#batchCount++;
      this.counts.acknowledged++;
      this.acknowledgedMs = performance.now();
    }
  }

  /**
   * What is stored beside the ledger: a time is stored once or not at all, so what was done twice is seen in the
   * results alone, which are compared with one batch over the stored samples.
   *
   * @param {(request: unknown, series: object) => object} runBatch
   */
  async compare(runBatch) {
    const raw = await this.#read('Raw');
    const found = new Map(raw.timeMs.map((timeMs, i) => [timeMs, raw.value[i]]));
    let [missing, different] = [0, 0];
    for (const [timeMs, value] of this.#ledger) {
      if (!found.has(timeMs)) missing++;
      else if (!Object.is(found.get(timeMs), value)) different++;
    }
    const unknown = raw.timeMs.filter((timeMs) => !this.#ledger.has(timeMs)).length;
    const doubled = raw.timeMs.length - found.size;
    const expected = runBatch(requestOf(this.#id), { timeseriesId: this.#id, metric: 'Raw', ...raw });
    const isEqual = await this.#settles(expected);
    const results = { right: isEqual ? expected.timeMs.length : 0, wrong: isEqual ? 0 : expected.timeMs.length };
    return { acknowledged: this.#ledger.size, found: found.size, missing, different, unknown, doubled, results };
  }

  // Late samples are taken in a moment after they are acknowledged.
  async #settles(expected) {
    for (let tries = 0; tries < 300; tries++) {
      const stored = await this.#read('Hourly');
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

  async #read(metric) {
    const path = `/core/timeseries/${this.#id}/samples?metric=${metric}`;
    const headers = { ...this.#headers, accept: 'application/x-ndjson' };
    const [timeMs, value] = [[], []];
    // A series without a sample as yet is not there.
    const answer = await this.#until(() => fetch(this.#url + path, { headers }), 200, 404);
    const lines = answer.status === 200 ? (await answer.text()).split('\n') : [];
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

  /** Sends a request until it is answered with one of these; another answer below 500 is a fault of ours. */
  async #until(ask, ...statuses) {
    for (;;) {
      const answer = await ask().catch(() => undefined);
      if (answer !== undefined && statuses.includes(answer.status)) return answer;
      if (answer !== undefined && answer.status < 500 && answer.status !== 429) {
        throw new Error(`${answer.url}: ${answer.status} ${await answer.text()}`);
      }
      await answer?.body?.cancel();
      this.counts.repeated++;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}
