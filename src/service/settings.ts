/** What can be set of the service, with its defaults. */
export interface ServiceSettings {
  /** How long a token lives, in seconds. */
  readonly tokenLifetimeS: number;
  /** An unknown grant_type is `unsupported_grant_type`, as RFC 6749 says, not the interface's `unauthorized_client`. */
  readonly strictRfc: boolean;
  /** The service's URL as its callers write it, like `https://ts.example.com`; told from the request when empty. */
  readonly publicUrl: string;
  /** The largest body that is held in memory as a whole, in bytes; bodies that are streamed may be larger. */
  readonly bodyBytesMax: number;
  /** The largest streamed body, in bytes, before and after unpacking. */
  readonly streamedBodyBytesMax: number;
  /** The most samples that a step of a request may make. */
  readonly outputSamplesMax: number;
  /** How often work that nobody told of is looked for, in ms. */
  readonly pollIntervalMs: number;
  /** How long a worker may be silent before another takes its shard, in ms. */
  readonly leaseMs: number;
  /** How often a failing item is tried again. */
  readonly retryCountMax: number;
  /** Worker threads that compute history. */
  readonly workerCount: number;
  /** How long a continuation token lives, in seconds: for so long old versions of events are kept. */
  readonly continuationLifetimeS: number;
  /** Requests that one client may make a minute before it is told 429; 0 is without a limit. */
  readonly requestsPerMinuteMax: number;
  /** Failed token requests of a client, or an address, within a minute before it is told 429. */
  readonly tokenFailuresPerMinuteMax: number;
  /** The event loop's delay in ms beyond which requests are told 503; 0 is without a limit. */
  readonly eventLoopDelayMsMax: number;
}

export const defaultSettings: ServiceSettings = Object.freeze({
  tokenLifetimeS: 3600,
  strictRfc: false,
  publicUrl: '',
  bodyBytesMax: 16 * 1024 * 1024,
  streamedBodyBytesMax: 16 * 1024 * 1024 * 1024,
  outputSamplesMax: 10_000_000,
  pollIntervalMs: 1000,
  leaseMs: 15_000,
  retryCountMax: 3,
  workerCount: 1,
  continuationLifetimeS: 3600,
  requestsPerMinuteMax: 0,
  tokenFailuresPerMinuteMax: 10,
  eventLoopDelayMsMax: 2000,
});
