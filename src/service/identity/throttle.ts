import { isIPv6 } from 'node:net';
import type { Reader, Transaction } from '../../storage/storage.js';
import { throttles } from '../../storage/tables/identity.js';

const WINDOW_MS = 60_000;
const FORGET_AFTER_MS = 10 * WINDOW_MS;

/** Failures of one subject: a client, or an address. */
export interface Failures {
  readonly windowStartMs: number;
  readonly failureCount: number;
  readonly blockedUntilMs: number | null;
}

/** How long the subject is not listened to; 0 when it is. */
export function blockedForMs(failures: Failures | undefined, nowMs: number): number {
  const leftMs = (failures?.blockedUntilMs ?? 0) - nowMs;
  // A clock put back blocks nobody for longer than a window.
  return leftMs > 0 && leftMs <= WINDOW_MS ? leftMs : 0;
}

/** The count after one more failure. The one that reaches `failureCountMax` (0 is none) blocks for a minute. */
export function countFailure(failures: Failures | undefined, nowMs: number, failureCountMax: number): Failures {
  const ageMs = nowMs - (failures?.windowStartMs ?? -Infinity);
  const isCurrent = failures !== undefined && ageMs >= 0 && ageMs < WINDOW_MS && failures.blockedUntilMs === null;
  const failureCount = isCurrent ? failures.failureCount + 1 : 1;
  const isBlocked = failureCountMax > 0 && failureCount >= failureCountMax;
  return {
    windowStartMs: isCurrent ? failures.windowStartMs : nowMs,
    failureCount,
    blockedUntilMs: isBlocked ? nowMs + WINDOW_MS : null,
  };
}

export async function readBlockMs(tx: Reader, subjects: readonly string[], nowMs: number): Promise<number> {
  let longestMs = 0;
  for (const subject of subjects) {
    longestMs = Math.max(longestMs, blockedForMs(await tx.get(throttles, { subject }), nowMs));
  }
  return longestMs;
}

export async function writeFailure(
  tx: Transaction,
  subjects: readonly string[],
  nowMs: number,
  failureCountMax: number,
): Promise<void> {
  for (const subject of subjects) {
    const counted = countFailure(await tx.get(throttles, { subject }), nowMs, failureCountMax);
    await tx.put(throttles, { subject, ...counted });
  }
}

/** Forgets counts that no longer matter, so that made-up clients do not fill the store. */
export async function forgetFailures(tx: Transaction, nowMs: number): Promise<void> {
  await tx.delete(throttles, [['windowStartMs', '<', nowMs - FORGET_AFTER_MS]]);
}

/** What counts as one address: of IPv6 the network of 64 bits, for a single host has all the addresses of its own. */
export function addressSubject(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  const [bare = ''] = address.split('%');
  if (!isIPv6(bare)) return address;
  const [head = '', tail] = bare.toLowerCase().split('::');
  const heads = head === '' ? [] : head.split(':');
  const tails = tail === undefined || tail === '' ? [] : tail.split(':');
  const tailCount = tails.length + (tails.at(-1)?.includes('.') ? 1 : 0);
  const zeros = tail === undefined ? [] : Array<string>(Math.max(0, 8 - heads.length - tailCount)).fill('0');
  const groups = [...heads, ...zeros, ...tails].slice(0, 4).map((group) => group.replace(/^0+(?=.)/, ''));
  return `${groups.join(':')}::/64`;
}
