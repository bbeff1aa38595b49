import { type BinaryLike, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';
import pLimit from 'p-limit';
import type { Random } from '../context.js';
import { tryLater } from '../token/errors.js';

/** The cost of a password's hash: memory is 128 * 2^costLog2 * blockSize bytes. */
export interface PasswordCost {
  readonly costLog2: number;
  readonly blockSize: number;
  readonly parallelism: number;
}

/** 32 MiB and about 0.2 s: one of the scrypt settings in OWASP's Password Storage Cheat Sheet. */
export const PASSWORD_COST: PasswordCost = { costLog2: 15, blockSize: 8, parallelism: 3 };

// A stored hash with a greater cost is damaged; computing it would exhaust the memory.
const COST_LOG2_MAX = 20;
const BLOCK_SIZE_MAX = 32;
const PARALLELISM_MAX = 16;

const SALT_BYTES = 16;
const KEY_BYTES = 32;
const FORM = /^\$scrypt\$ln=(\d+),r=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;
const RETRY_AFTER_MS = 2000;

export interface PasswordOptions {
  readonly cost?: PasswordCost;
  /** How many run at a time: each takes a thread and the memory of its cost. */
  readonly runningMax?: number;
  readonly waitingMax?: number;
}

export type Passwords = ReturnType<typeof createPasswords>;

/** Hashes passwords with scrypt, a bounded number at a time. @throws OAuthError 503 while too many wait. */
export function createPasswords(random: Random, options: PasswordOptions = {}) {
  const { cost = PASSWORD_COST, runningMax = 1, waitingMax = 32 } = options;
  const limit = pLimit(runningMax);
  const derive = async (password: string, salt: Uint8Array, { costLog2, blockSize, parallelism }: PasswordCost) => {
    const N = 2 ** costLog2;
    if (limit.activeCount + limit.pendingCount >= runningMax + waitingMax) {
      throw tryLater(503, 'too many password checks are waiting', RETRY_AFTER_MS);
    }
    return limit(() =>
      // Keyboards and systems differ in the code points of the same letter (RFC 8265).
      deriveKey(password.normalize('NFC'), salt, KEY_BYTES, {
        N,
        r: blockSize,
        p: parallelism,
        maxmem: 256 * N * blockSize,
      }),
    );
  };
  return Object.freeze({
    hash: async (password: string) => {
      const salt = random.bytes(SALT_BYTES);
      return format(cost, salt, await derive(password, salt, cost));
    },
    verify: async (passwordHash: string, password: string) => {
      const { cost: stored, salt, key } = parse(passwordHash);
      return timingSafeEqual(await derive(password, salt, stored), key);
    },
    /** Whether the hash has a cost other than the current one. */
    isOutdated: (passwordHash: string) => {
      const { cost: stored } = parse(passwordHash);
      return format(stored, new Uint8Array(), new Uint8Array()) !== format(cost, new Uint8Array(), new Uint8Array());
    },
    /** Verified when there is no such user, so that the check takes as long. No password matches it. */
    decoy: format(cost, random.bytes(SALT_BYTES), random.bytes(KEY_BYTES)),
  });
}

/** Whether `verify` accepts the hash. */
export function isPasswordHash(text: string): boolean {
  return read(text) !== undefined;
}

interface ParsedHash {
  readonly cost: PasswordCost;
  readonly salt: Uint8Array;
  readonly key: Uint8Array;
}

function parse(passwordHash: string): ParsedHash {
  const parsed = read(passwordHash);
  if (parsed === undefined) throw new Error('assertion failed: a stored password hash is malformed');
  return parsed;
}

function read(text: string): ParsedHash | undefined {
  const [, costLog2 = '', blockSize = '', parallelism = '', salt = '', key = ''] = FORM.exec(text) ?? [];
  const cost = { costLog2: Number(costLog2), blockSize: Number(blockSize), parallelism: Number(parallelism) };
  const isBounded =
    within(cost.costLog2, COST_LOG2_MAX) &&
    within(cost.blockSize, BLOCK_SIZE_MAX) &&
    within(cost.parallelism, PARALLELISM_MAX);
  const keyBytes = Buffer.from(key, 'base64');
  return isBounded && keyBytes.length === KEY_BYTES
    ? { cost, salt: Buffer.from(salt, 'base64'), key: keyBytes }
    : undefined;
}

function within(count: number, max: number): boolean {
  return count >= 1 && count <= max;
}

// The PHC string format, which records the cost of each hash.
function format({ costLog2, blockSize, parallelism }: PasswordCost, salt: Uint8Array, key: Uint8Array): string {
  const [saltText, keyText] = [salt, key].map((part) => Buffer.from(part).toString('base64').replace(/=+$/, ''));
  return `$scrypt$ln=${costLog2},r=${blockSize},p=${parallelism}$${saltText}$${keyText}`;
}

function deriveKey(password: BinaryLike, salt: BinaryLike, count: number, options: ScryptOptions): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    scrypt(password, salt, count, options, (error, key) => (error === null ? resolve(key) : reject(error)));
  });
}
