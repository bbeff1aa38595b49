import { hash, timingSafeEqual } from 'node:crypto';
import type { Random } from '../context.js';

const SECRET_BYTES = 32;

/** A token or a client's secret: 256 random bits as base64url. */
export function createSecret(random: Random): string {
  return Buffer.from(random.bytes(SECRET_BYTES)).toString('base64url');
}

/** The hash that is stored. 256 random bits cannot be guessed, so a fast hash is enough. */
export function hashSecret(secret: string): string {
  return hash('sha256', secret, 'base64url');
}

/** Compares hashes from `hashSecret` in constant time. */
export function equalHashes(a: string, b: string): boolean {
  const left = Buffer.from(a, 'latin1');
  const right = Buffer.from(b, 'latin1');
  return left.length === right.length && timingSafeEqual(left, right);
}
