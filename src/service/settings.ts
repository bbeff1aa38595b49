const defaults = {
  /** How long a token lives, in seconds. */
  tokenLifetimeS: 3600,
  /** An unknown grant_type is `unsupported_grant_type`, as RFC 6749 says, not the interface's `unauthorized_client`. */
  strictRfc: false,
  /** The service's URL as its callers write it, like `https://ts.example.com`; told from the request when empty. */
  publicUrl: '',
  /** The origins whose pages may call the service from a browser, like `https://app.example.com`; `*` is any. */
  corsOrigins: [] as readonly string[],
  /** The largest body that is held in memory as a whole, in bytes; bodies that are streamed may be larger. */
  bodyBytesMax: 16 * 1024 * 1024,
  /** The largest streamed body, in bytes, before and after unpacking. */
  streamedBodyBytesMax: 16 * 1024 * 1024 * 1024,
  /** The longest line of a CSV body, in bytes. */
  csvLineBytesMax: 1024 * 1024,
  /** The most columns of a CSV body. */
  csvColumnsMax: 10_000,
  /** The most series of one body (of one that is stored in parts, of each part, and of CSV all together). */
  bodySeriesMax: 100_000,
  /** The most samples of a body that a queue delivered: it is stored as a whole. */
  queuedSamplesMax: 1_000_000,
  /** How many times its size a packed body may unpack to, beyond 16 MiB. */
  unpackRatioMax: 100,
  /** The most value and time ranges of one request of operations. */
  requestRangesMax: 10_000,
  /** The most samples that a step of a request may make. */
  outputSamplesMax: 10_000_000,
  /** How often work that nobody told of is looked for, in ms. */
  pollIntervalMs: 1000,
  /** How long a worker may be silent before another takes its shard, in ms. */
  leaseMs: 15_000,
  /** How often a failing item is tried again. */
  retryCountMax: 3,
  /** Worker threads that compute history. */
  workerCount: 1,
  /** How long a continuation token lives, in seconds: for so long old versions of events are kept. */
  continuationLifetimeS: 3600,
  /** Requests that one client may make a minute before it is told 429; 0 is without a limit. */
  requestsPerMinuteMax: 0,
  /**
   * Failed token requests of a client or user at one address within a minute before it is told 429; of one from
   * everywhere, and of all at an address, ten times as many.
   */
  tokenFailuresPerMinuteMax: 10,
  /** Open connections of a server of our own; 0 is as many as the descriptors allow, 10,000 at most. */
  connectionsMax: 0,
  /** How long the headers of a request may take, in ms, from the begin of the connection or their first byte. */
  headersMsMax: 10_000,
  /** How long a body may take to come, in ms, before it has to come at `bodyBytesPerSecondMin`. */
  bodyGraceMs: 20_000,
  bodyBytesPerSecondMin: 1024,
  /** How long a body may take in all, in ms, unpacking and storing with it. */
  bodyMsMax: 900_000,
  /** The event loop's delay in ms beyond which requests are told 503; 0 is without a limit. */
  eventLoopDelayMsMax: 2000,
};

export type ServiceSettings = Readonly<typeof defaults>;

export const defaultSettings: ServiceSettings = Object.freeze(defaults);

/** The settings that bound what callers may send, which `windrow serve --limit` sets. */
export const limitNames = [
  'connectionsMax',
  'bodyBytesMax',
  'streamedBodyBytesMax',
  'bodyMsMax',
  'csvLineBytesMax',
  'csvColumnsMax',
  'bodySeriesMax',
  'queuedSamplesMax',
  'unpackRatioMax',
  'requestRangesMax',
] as const satisfies readonly (keyof ServiceSettings)[];

export type LimitName = (typeof limitNames)[number];

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

/** What is wrong with an origin, as the end of a sentence; undefined where it will do. */
export function originFault(text: string): string | undefined {
  const isOrigin = text === '*' || (URL.canParse(text) && new URL(text).origin === text && /^https?:/.test(text));
  if (isOrigin) return undefined;
  return `expected an origin such as https://app.example.com, without a path, or *; received ${JSON.stringify(text)}`;
}
