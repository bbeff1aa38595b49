import { isIP, isIPv6 } from 'node:net';
import type { Reader, Transaction } from '../../storage/storage.js';
import { throttles } from '../../storage/tables/identity.js';
import { expected } from './names.js';
import { hashSecret } from './secrets.js';

const WINDOW_MS = 60_000;
const FORGET_AFTER_MS = 10 * WINDOW_MS;
/** So many times as often may somebody fail from all addresses, and all who share an address. */
const LOOSE_FACTOR = 10;

/** What failures are counted by. */
export interface Subject {
  readonly name: string;
  /** Failures within a minute that block it, where 1 is what somebody may have at one address. */
  readonly factor: number;
}

/**
 * What the failures of a client or user at an address are counted by: mostly by both together, so that whoever mistypes
 * shuts out nobody else there, and whoever guesses shuts out nobody elsewhere; and each alone with a looser bound.
 *
 * @param who of `clientSubject` or `userSubject`.
 */
export function subjectsAt(who: string, address: string): readonly Subject[] {
  const place = addressSubject(address);
  return [
    { name: `${who} ${place}`, factor: 1 },
    { name: who, factor: LOOSE_FACTOR },
    { name: `address ${place}`, factor: LOOSE_FACTOR },
  ];
}

// Whatever somebody sends as a name, perhaps a secret by mistake, is not written down as it came.
export function clientSubject(clientId: string): string {
  return `client ${hashSecret(clientId)}`;
}

export function userSubject(organisation: string, username: string): string {
  return `user ${hashSecret(JSON.stringify([organisation, username.normalize('NFC')]))}`;
}

/** Forgets the failures of a client or user, everywhere, and those of an address where one is given. */
export async function unlock(tx: Transaction, who: string, address: string | undefined): Promise<void> {
  await tx.delete(throttles, [['subject', '=', who]]);
  // The names that begin with it and a space.
  await tx.delete(throttles, [
    ['subject', '>=', `${who} `],
    ['subject', '<', `${who}!`],
  ]);
  if (address === undefined) return;
  if (isIP(address) === 0) throw expected('address', 'an address such as 192.0.2.7 or 2001:db8::7', address);
  await tx.delete(throttles, [['subject', '=', `address ${addressSubject(address)}`]]);
}

/** Failures of one subject. */
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

export async function readBlockMs(tx: Reader, subjects: readonly Subject[], nowMs: number): Promise<number> {
  let longestMs = 0;
  for (const { name: subject } of subjects) {
    longestMs = Math.max(longestMs, blockedForMs(await tx.get(throttles, { subject }), nowMs));
  }
  return longestMs;
}

export async function writeFailure(
  tx: Transaction,
  subjects: readonly Subject[],
  nowMs: number,
  failureCountMax: number,
): Promise<void> {
  for (const { name: subject, factor } of subjects) {
    const counted = countFailure(await tx.get(throttles, { subject }), nowMs, factor * failureCountMax);
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
