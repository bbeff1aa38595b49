import { isIP, isIPv6 } from 'node:net';
import type { Transaction } from '../../storage/storage.js';
import { throttles } from '../../storage/tables/identity.js';
import { expected } from './names.js';
import { hashSecret } from './secrets.js';

const WINDOW_MS = 60_000;
const FORGET_AFTER_MS = 10 * WINDOW_MS;
/** The bound on one client or user at all addresses, and on one address, relative to that on a pair of the two. */
const LOOSE_FACTOR = 10;

/** What failures are counted for: a client or user, an address, or a pair of the two. */
export interface Subject {
  readonly name: string;
  /** Multiplies the number of failures per minute that are allowed. */
  readonly factor: number;
}

/**
 * The subjects that a failure of a client or user at an address counts for. The tight bound is on the pair: whoever
 * mistypes locks out nobody else at the address, and whoever guesses elsewhere does not lock out the owner. Looser
 * bounds on each alone stop attacks that are spread over many addresses or names.
 *
 * @param who from `clientSubject` or `userSubject`.
 */
export function subjectsAt(who: string, address: string): readonly Subject[] {
  const place = addressSubject(address);
  return [
    { name: `${who} ${place}`, factor: 1 },
    { name: who, factor: LOOSE_FACTOR },
    { name: `address ${place}`, factor: LOOSE_FACTOR },
  ];
}

// Hashed, as the caller may have sent a secret as the name by mistake.
export function clientSubject(clientId: string): string {
  return `client ${hashSecret(clientId)}`;
}

export function userSubject(organisation: string, username: string): string {
  return `user ${hashSecret(JSON.stringify([organisation, username.normalize('NFC')]))}`;
}

/** Clears the failures of a client or user at every address, and those of the given address. */
export async function unlock(tx: Transaction, who: string, address: string | undefined): Promise<void> {
  await tx.delete(throttles, [['subject', '=', who]]);
  // All names that start with `who` and a space: `!` follows the space in ASCII.
  await tx.delete(throttles, [
    ['subject', '>=', `${who} `],
    ['subject', '<', `${who}!`],
  ]);
  if (address === undefined) return;
  if (isIP(address) === 0) throw expected('address', 'an IP address such as 192.0.2.7 or 2001:db8::7', address);
  await tx.delete(throttles, [['subject', '=', `address ${addressSubject(address)}`]]);
}

/** Failures of one subject. */
export interface Failures {
  readonly windowStartMs: number;
  readonly failureCount: number;
  readonly blockedUntilMs: number | null;
}

/** How long the subject stays blocked; 0 if it is not blocked. */
export function blockedForMs(failures: Failures | undefined, nowMs: number): number {
  return Math.max(0, (failures?.blockedUntilMs ?? 0) - nowMs);
}

/**
 * Failures that were counted by a clock that has been set back since, or that is ahead of this one: their window, or
 * their block, begins now. So nobody stays blocked for longer than a window, and setting a clock forgets no failure.
 */
export function ofThisClock(failures: Failures, nowMs: number): Failures {
  const { windowStartMs, blockedUntilMs } = failures;
  const isAhead = windowStartMs > nowMs || (blockedUntilMs !== null && blockedUntilMs > nowMs + WINDOW_MS);
  if (!isAhead) return failures;
  return {
    ...failures,
    windowStartMs: Math.min(windowStartMs, nowMs),
    blockedUntilMs: blockedUntilMs === null ? null : Math.min(blockedUntilMs, nowMs + WINDOW_MS),
  };
}

/** The count after one more failure. The one that reaches `failureCountMax` blocks for a minute; 0 means no limit. */
export function countFailure(failures: Failures | undefined, nowMs: number, failureCountMax: number): Failures {
  const ageMs = nowMs - (failures?.windowStartMs ?? -Infinity);
  const isCurrent = failures !== undefined && ageMs < WINDOW_MS && failures.blockedUntilMs === null;
  const failureCount = isCurrent ? failures.failureCount + 1 : 1;
  const isBlocked = failureCountMax > 0 && failureCount >= failureCountMax;
  return {
    windowStartMs: isCurrent ? failures.windowStartMs : nowMs,
    failureCount,
    blockedUntilMs: isBlocked ? nowMs + WINDOW_MS : null,
  };
}

async function readFailures(tx: Transaction, subject: string, nowMs: number): Promise<Failures | undefined> {
  const stored = await tx.get(throttles, { subject });
  if (stored === undefined) return undefined;
  const failures = ofThisClock(stored, nowMs);
  // Kept, for else it would begin anew each time.
  if (failures !== stored) await tx.put(throttles, { ...failures, subject });
  return failures;
}

export async function readBlockMs(tx: Transaction, subjects: readonly Subject[], nowMs: number): Promise<number> {
  let longestMs = 0;
  for (const { name } of subjects) {
    longestMs = Math.max(longestMs, blockedForMs(await readFailures(tx, name, nowMs), nowMs));
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
    const counted = countFailure(await readFailures(tx, subject, nowMs), nowMs, factor * failureCountMax);
    await tx.put(throttles, { subject, ...counted });
  }
}

/** Old counts that one request deletes; the next ones delete more. */
const FORGOTTEN_PER_REQUEST = 200;

/**
 * Deletes old counts, so that invented client ids do not fill the store.
 *
 * @returns whether there may be more.
 */
export async function forgetFailures(tx: Transaction, nowMs: number): Promise<boolean> {
  const where = [['windowStartMs', '<', nowMs - FORGET_AFTER_MS]] as const;
  const orderBy = [{ column: 'windowStartMs' }] as const;
  const oldest = await tx.find(throttles, { where, orderBy, limit: FORGOTTEN_PER_REQUEST });
  const subjects = oldest.map(({ subject }) => subject);
  if (subjects.length > 0) await tx.delete(throttles, [['subject', 'in', subjects]]);
  return subjects.length === FORGOTTEN_PER_REQUEST;
}

/**
 * What counts as one address: for IPv6 the /64 network, since a single host may use all of its addresses; never the
 * port, which some proxies write too (`192.0.2.1:50001`, `[2001:db8::1]:50001`) and which is new for each connection.
 */
export function addressSubject(forwarded: string): string {
  const [, bracketed, withPort] = /^(?:\[([^\]]*)\](?::\d+)?|(\d+(?:\.\d+){3}):\d+)$/.exec(forwarded) ?? [];
  const address = bracketed ?? withPort ?? forwarded;
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
