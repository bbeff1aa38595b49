import { DAY_MS } from '../core/calendar.js';
import { describeValue } from '../core/errors.js';

const defaults = {
  /** How long a token lives, in seconds. */
  tokenLifetimeS: 3600,
  /**
   * Answer an unknown grant_type with `unsupported_grant_type` (RFC 6749), not with `unauthorized_client` (interface).
   */
  strictRfc: false,
  /** The service's URL as its callers see it, such as `https://ts.example.com`; taken from each request if empty. */
  publicUrl: '',
  /** The origins whose pages may call the service from a browser, such as `https://app.example.com`; `*` means any. */
  corsOrigins: [] as readonly string[],
  /** The largest body that is held in memory, in bytes; streamed bodies may be larger. */
  bodyBytesMax: 16 * 1024 * 1024,
  /** The largest streamed body, in bytes, before and after decompression. */
  streamedBodyBytesMax: 16 * 1024 * 1024 * 1024,
  /** The longest line of a CSV body, in bytes. */
  csvLineBytesMax: 1024 * 1024,
  /** The most columns of a CSV body. */
  csvColumnsMax: 10_000,
  /** The most series of one body (of one that is stored in parts, of each part, and of CSV all together). */
  bodySeriesMax: 100_000,
  /** The most samples of a body from a queue, which is stored in one commit. */
  queuedSamplesMax: 1_000_000,
  /** How many times its size a compressed body may expand to, beyond 16 MiB. */
  unpackRatioMax: 100,
  /** The most value and time ranges of one operations request. */
  requestRangesMax: 10_000,
  /** The most samples that a step of a request may produce. */
  outputSamplesMax: 10_000_000,
  /**
   * How long a start waits for a database that cannot be reached, in ms: longer than a failover. Then it fails, so that
   * a wrong address is noticed.
   */
  storeWaitMsMax: 60_000,
  /** How often to poll for work that no notification announced, in ms. */
  pollIntervalMs: 1000,
  /** How long to pause between two deletions of samples that have outlived their rule, in ms. */
  retentionIntervalMs: 600_000,
  /** For which share of its rule a sample may be kept longer, so that most are deleted by whole segments. */
  retentionSlackShare: 1 / 8,
  /** How long a worker's claim to a shard lasts without renewal, in ms. */
  leaseMs: 15_000,
  /** How often a failing item is retried. */
  retryCountMax: 3,
  /** Worker threads that compute history; with 0, compaction of an embedded store has no thread of its own either. */
  workerCount: 1,
  /** How long a continuation token lives, in seconds; old versions of events are kept for as long. */
  continuationLifetimeS: 3600,
  /** Requests per minute that one client may make before it gets 429; 0 means no limit. */
  requestsPerMinuteMax: 0,
  /**
   * Failed token requests per minute of one client or user at one address before it gets 429. Of one client or user at
   * all addresses, and of all at one address, ten times as many; 0 means no limit.
   */
  tokenFailuresPerMinuteMax: 10,
  /** Open connections of our own server; 0 means as many as the file descriptors allow, 10,000 at most. */
  connectionsMax: 0,
  /** How long a request's headers may take, in ms, from the start of the connection or their first byte. */
  headersMsMax: 10_000,
  /** How long a body may take before it must come at `bodyBytesPerSecondMin`, in ms. */
  bodyGraceMs: 20_000,
  bodyBytesPerSecondMin: 1024,
  /** How long a body may take in all, in ms, with decompression and storing. */
  bodyMsMax: 900_000,
  /** The delay of the event loop beyond which requests get 503, in ms; 0 means no limit. */
  eventLoopDelayMsMax: 2000,
};

export type ServiceSettings = Readonly<typeof defaults>;

export const defaultSettings: ServiceSettings = Object.freeze(defaults);

/** The settings that bound what callers may send; `windrow serve --limit` sets them. */
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

/** A hundred years, so that the expiry of a token is an exact number of milliseconds. */
export const TOKEN_LIFETIME_S_MAX = 100 * 365 * 86_400;
/** Node's timers go up to 24 days. */
export const RETENTION_INTERVAL_MS_MAX = DAY_MS;

const maxima: Partial<Record<keyof ServiceSettings, number>> = {
  tokenLifetimeS: TOKEN_LIFETIME_S_MAX,
  retentionIntervalMs: RETENTION_INTERVAL_MS_MAX,
  pollIntervalMs: DAY_MS,
  leaseMs: DAY_MS,
};

/** Where 0 would be a loop without a pause, or a service that takes nothing. */
const minima: Partial<Record<keyof ServiceSettings, number>> = {
  retentionIntervalMs: 1,
  pollIntervalMs: 1,
  leaseMs: 1,
  bodyBytesMax: 1,
  // Shorter lines lie in one piece of a body, which is not looked through for them.
  csvLineBytesMax: 65_536,
};

/**
 * Checks settings as a program gives them.
 *
 * @throws TypeError for a name that is no setting, and for a value of another type or range.
 */
export function checkSettings(given: Partial<ServiceSettings>): void {
  for (const [name, value] of Object.entries(given) as [string, unknown][]) {
    const fault = isSetting(name) ? settingFault(name, value) : `expected one of ${Object.keys(defaults).join(', ')}`;
    if (fault !== undefined) throw new TypeError(`the setting ${name}: ${fault}`);
  }
}

function isSetting(name: string): name is keyof ServiceSettings {
  return Object.hasOwn(defaults, name);
}

/** @returns what is wrong with a setting, as the end of a sentence; undefined if nothing is. */
export function settingFault(name: keyof ServiceSettings, value: unknown): string | undefined {
  if (name === 'publicUrl' && typeof value === 'string') return value === '' ? undefined : publicUrlFault(value);
  if (name === 'corsOrigins') {
    if (!Array.isArray(value)) return `expected an array of origins, received ${describeValue(value)}`;
    return value.map((origin: unknown) => originFault(String(origin))).find((fault) => fault !== undefined);
  }
  const most = maxima[name] ?? Number.POSITIVE_INFINITY;
  if (Number(value) > most) return `expected at most ${most}, received ${describeValue(value)}`;
  const type = typeof defaults[name];
  const least = minima[name] ?? 0;
  if (type === 'number' && !(Number.isFinite(value) && Number(value) >= least)) {
    return `expected a number from ${least} up, received ${describeValue(value)}`;
  }
  if (/Bytes\w*Max$/.test(name) && !Number.isInteger(value)) {
    return `expected a whole number of bytes, received ${describeValue(value)}`;
  }
  const expected = type === 'boolean' ? 'true or false' : `a ${type}`;
  return typeof value === type ? undefined : `expected ${expected}, received ${describeValue(value)}`;
}

/**
 * Checks the public URL, which is also the issuer of RFC 8414 (section 2).
 *
 * @returns what is wrong, as the end of a sentence; undefined if nothing is.
 */
export function publicUrlFault(text: string): string | undefined {
  const received = `received ${JSON.stringify(text)}`;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isWeb = url?.protocol === 'https:' || url?.protocol === 'http:';
  // `URL` accepts and repairs these, but the metadata shows the text as it was given.
  if (url === undefined || !isWeb || /[\s\\]/.test(text) || !/^https?:\/\//i.test(text)) {
    return `expected a URL such as https://ts.example.com, ${received}`;
  }
  if (url.username !== '' || url.password !== '') return 'expected a URL without a user and a password in it';
  return /[?#]/.test(text) ? `expected a URL without a query and a fragment, ${received}` : undefined;
}

/** What is wrong with an origin, as the end of a sentence; undefined if nothing is. */
export function originFault(text: string): string | undefined {
  const isOrigin = URL.canParse(text) && new URL(text).origin === text && /^https?:/.test(text) && !text.includes('*');
  if (text === '*' || isOrigin) return undefined;
  return `expected an origin such as https://app.example.com, without a path, or *; received ${JSON.stringify(text)}`;
}
