import { hash, timingSafeEqual } from 'node:crypto';
import type { Random } from '../context.js';

const SECRET_BYTES = 32;

/** 256 random bits, in the alphabet of base64url: a token, or a client's secret. */
export function createSecret(random: Random): string {
  return Buffer.from(random.bytes(SECRET_BYTES)).toString('base64url');
}

/** What is stored of a secret of 256 random bits. Nobody guesses its way back, so that a fast hash will do. */
export function hashSecret(secret: string): string {
  return hash('sha256', secret, 'base64url');
}

/** Compares hashes of `hashSecret` in a time that does not tell where they differ. */
export function equalHashes(a: string, b: string): boolean {
  const left = Buffer.from(a, 'latin1');
  const right = Buffer.from(b, 'latin1');
  return left.length === right.length && timingSafeEqual(left, right);
}
