import type { FastifyInstance } from 'fastify';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

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
      help:
        'Connections that were ended: limit (silent, and another came), body or answer (it stalled), ' +
        'ahead (too many requests before their answers)',
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
    requestSeconds: new Histogram({
      name: 'windrow_http_request_duration_seconds',
      help: 'Time from the arrival of a request to its answer',
      labelNames: ['method', 'route', 'status'],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers: [registry],
    }),
  };
}

/** Registers `/metrics`, and measures each request. */
export function registerMetrics(app: FastifyInstance, { registry, requestSeconds }: Metrics): void {
  app.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? 'unknown';
    const labels = { method: request.method, route, status: String(reply.statusCode) };
    requestSeconds.observe(labels, reply.elapsedTime / 1000);
    done();
  });
  const schema = { summary: 'Figures for Prometheus', tags: ['Health'], security: [], produces: ['text/plain'] };
  app.get('/metrics', { config: { isAlwaysAnswered: true }, schema }, async (_request, reply) => {
    reply.type(registry.contentType);
    return registry.metrics();
  });
}
