import type { FastifyInstance } from 'fastify';
import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';

export type Metrics = Readonly<ReturnType<typeof createMetrics>>;

/** The service's metrics, in the form that Prometheus reads. Labels name routes, never callers or series. */
export function createMetrics() {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const counter = (name: string, help: string) => new Counter({ name: `windrow_${name}`, help, registers: [registry] });
  return {
    registry,
    samplesIngested: counter('samples_ingested_total', 'Samples stored durably'),
    samplesRead: counter('samples_read_total', 'Samples given to readers'),
    eventsWritten: counter('events_written_total', 'Events stored durably'),
    tokensIssued: counter('tokens_issued_total', 'Access tokens issued'),
    commits: counter('commits_total', 'Commits that wrote'),
    compactionErrors: counter('compaction_errors_total', 'Times that samples were not compacted, which is tried again'),
    storeErrors: new Counter({
      name: 'windrow_store_errors_total',
      help: 'Reads and transactions that the store refused or failed at',
      labelNames: ['code'],
      registers: [registry],
    }),
    connectionsEnded: new Counter({
      name: 'windrow_connections_ended_total',
      help: 'Connections that were ended: limit (silent, and another came), body or answer (it stalled)',
      labelNames: ['reason'],
      registers: [registry],
    }),
    /** Adds a gauge that is read on demand. */
    watch: (name: string, help: string, read: () => number | Promise<number>): void => {
      const gauge: Gauge = new Gauge({
        name: `windrow_${name}`,
        help,
        registers: [registry],
        // A gauge that fails must not fail the others.
        collect: async () => gauge.set(await Promise.resolve(read()).catch(() => Number.NaN)),
      });
    },
    requestSeconds: new RequestSeconds(),
  };
}

const NAME = 'windrow_http_request_duration_seconds';
const BUCKETS_S = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** The durations of requests with the same labels. */
interface Durations {
  readonly labels: string;
  /** How many fell between each bound and the one before, and beyond the last. */
  readonly counts: Float64Array;
  sumS: number;
}

/**
 * A histogram of how long requests took. That of prom-client makes a text of the labels at each request, which takes
 * longer than all else that is measured.
 */
class RequestSeconds {
  readonly #byLabels = new Map<string, Durations>();

  observe(method: string, route: string, status: number, durationS: number): void {
    const labels = `method="${method}",route="${route}",status="${status}"`;
    let durations = this.#byLabels.get(labels);
    if (durations === undefined) {
      durations = { labels, counts: new Float64Array(BUCKETS_S.length + 1), sumS: 0 };
      this.#byLabels.set(labels, durations);
    }
    const bucket = BUCKETS_S.findIndex((bound) => durationS <= bound);
    durations.counts[bucket < 0 ? BUCKETS_S.length : bucket]!++;
    durations.sumS += durationS;
  }

  /** In the text format of Prometheus. */
  text(): string {
    const lines = [`# HELP ${NAME} Time from the arrival of a request to its answer`, `# TYPE ${NAME} histogram`];
    for (const { labels, counts, sumS } of this.#byLabels.values()) {
      let count = 0;
      for (const [bucket, bound] of [...BUCKETS_S, '+Inf'].entries()) {
        count += counts[bucket]!;
        lines.push(`${NAME}_bucket{le="${bound}",${labels}} ${count}`);
      }
      lines.push(`${NAME}_sum{${labels}} ${sumS}`, `${NAME}_count{${labels}} ${count}`);
    }
    return `${lines.join('\n')}\n`;
  }
}

/** Registers `/metrics`, and measures each request. */
export function registerMetrics(app: FastifyInstance, { registry, requestSeconds }: Metrics): void {
  app.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? 'unknown';
    requestSeconds.observe(request.method, route, reply.statusCode, reply.elapsedTime / 1000);
    done();
  });
  const schema = { summary: 'Figures for Prometheus', tags: ['Health'], security: [], produces: ['text/plain'] };
  app.get('/metrics', { config: { isAlwaysAnswered: true }, schema }, async (_request, reply) => {
    reply.type(registry.contentType);
    return `${await registry.metrics()}\n${requestSeconds.text()}`;
  });
}
