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

/**
 * What is wrong with a URL that the service is to be known by (an issuer of RFC 8414, section 2).
 *
 * @returns the end of a sentence; undefined where it will do.
 */
export function publicUrlFault(text: string): string | undefined {
  const received = `received ${JSON.stringify(text)}`;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isWeb = url?.protocol === 'https:' || url?.protocol === 'http:';
  // What a URL takes and changes on its way would stand in the metadata as it was written.
  if (url === undefined || !isWeb || /[\s\\]/.test(text) || !/^https?:\/\//i.test(text)) {
    return `expected a URL such as https://ts.example.com, ${received}`;
  }
  if (url.username !== '' || url.password !== '') return 'expected a URL without a user and a password in it';
  return /[?#]/.test(text) ? `expected a URL without a query and a fragment, ${received}` : undefined;
}
