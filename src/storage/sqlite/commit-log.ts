import { randomInt } from 'node:crypto';
import type { Connection } from './connection.js';
import { SqliteFailure } from './database.js';
import type { LogFile } from './log-file.js';
import { decodeFrame, encodeFrame, frameBytes, HEAD_BYTES } from './log-frame.js';
import type { Statement } from './statements.js';

// A commit of SQLite waits for the disk four times: for the journal, its head, the pages, and the journal's end. So its
// transaction is left open over many groups of commits, an epoch; what each group wrote stands as statements in this
// log, for which it waits once, while others have the thread. At the end of the epoch SQLite commits, and the log
// begins anew: the name of the epoch lies in the database, and the commit writes another, so the frames are void from
// that very commit on. The name is a random number, and each process begins with one of its own: frames never fit a
// copy of the database that was put back, and nobody can send bytes that, left in the file, pass for a frame. After a
// crash SQLite (or `rollBackJournal`) undoes the open transaction, and the frames of the epoch are executed again: they
// are the same statements, on the same rows, in the same order.

/** A larger group is worth a commit of SQLite: it would be written twice. */
const GROUP_BYTES_MAX = 512 * 1024;
/** What is executed again after a crash, and what the database lags behind. */
const EPOCH_BYTES_MAX = 4 * 1024 * 1024;
/** As far as `randomInt` goes. */
const EPOCH_END = 2 ** 48 - 1;

const READ_EPOCH = 'SELECT "value" FROM "windrow_meta" WHERE "name" = \'logEpoch\'';
const WRITE_EPOCH =
  'INSERT INTO "windrow_meta" VALUES (\'logEpoch\', ?) ON CONFLICT ("name") DO UPDATE SET "value" = excluded."value"';

/** Puts groups of commits on the disk, by its own file or by a commit of SQLite. */
export class CommitLog {
  readonly #file: LogFile;
  readonly #isLogging: boolean;
  #epoch = 0;
  /** Frames of the epoch, all on the disk, and where they end. */
  #frameCount = 0;
  #length = 0;
  /** Whether SQLite is in the transaction of the epoch. */
  #isOpen = false;
  /** Behind the last frame there may be one of a group that was told to have failed. */
  #isSpoiled = false;
  #isBehind = false;
  /**
   * The next group is a commit of SQLite: the first, which names an epoch, and the one after a failure, for on a full
   * disk what it deletes makes room for others.
   */
  #isCautious = true;

  constructor(file: LogFile, isLogging: boolean) {
    this.#file = file;
    this.#isLogging = isLogging;
  }

  /** Whether the database lacks commits that stand in the log: it is of no use until `restore` was called. */
  get isBehind(): boolean {
    return this.#isBehind;
  }

  /** For a store that is new: what stands in the file is of another. */
  clear(): void {
    this.#file.truncate();
  }

  /** Brings what a process left that died into the database; for a database of this version, before all else. */
  recover(connection: Connection): void {
    this.#epoch = readEpoch(connection);
    const frames = this.#frames(Infinity);
    if (frames.length === 0) return;
    this.begin(connection);
    execute(connection, frames);
    this.#frameCount = frames.length;
    this.endEpoch(connection);
  }

  /** Begins a group. */
  begin(connection: Connection): void {
    if (this.#isBehind) throw new SqliteFailure('io', 'the commits of the log were not brought back');
    if (this.#isOpen) return;
    connection.exec('BEGIN IMMEDIATE');
    this.#isOpen = true;
  }

  /** Puts on the disk what the group wrote. Where it throws, `restore` undoes the group. */
  async commit(connection: Connection, statements: readonly Statement[]): Promise<void> {
    if (this.#isLogging && statements.length === 0) return;
    const isLarge = frameBytes(statements) > GROUP_BYTES_MAX || this.#length > EPOCH_BYTES_MAX;
    if (!this.#isLogging || this.#isSpoiled || this.#isCautious || isLarge) {
      this.endEpoch(connection);
      this.#isCautious = false;
    } else {
      await this.#append(encodeFrame(statements, { epoch: this.#epoch, sequence: this.#frameCount }));
    }
  }

  async #append(frame: Uint8Array): Promise<void> {
    try {
      this.#file.write(frame, this.#length);
      await this.#file.sync();
    } catch (cause) {
      // Whether the frame will be found is not known; it is void from the next commit of SQLite on, and before, if its
      // head can be overwritten.
      this.#isSpoiled = true;
      attempt(() => this.#file.write(new Uint8Array(HEAD_BYTES), this.#length));
      throw failureOf(cause);
    }
    this.#length += frame.length;
    this.#frameCount++;
  }

  /** Has SQLite commit all that is in its open transaction. */
  endEpoch(connection: Connection): void {
    if (!this.#isOpen) return;
    const isNamed = this.#frameCount === 0 && !this.#isSpoiled && !this.#isCautious;
    const epoch = isNamed ? this.#epoch : randomInt(EPOCH_END);
    if (!isNamed) connection.run(WRITE_EPOCH, [String(epoch)]);
    // It is no part of the next group.
    connection.takeRecords();
    connection.exec('COMMIT');
    if (!isNamed) this.#begin(epoch);
    this.#isOpen = false;
  }

  #begin(epoch: number): void {
    // The disk may be full, with a log that is not needed now; where it stays, its frames are void nevertheless.
    if (this.#isSpoiled) attempt(() => this.#file.truncate());
    this.#epoch = epoch;
    this.#frameCount = 0;
    this.#length = 0;
    this.#isSpoiled = false;
  }

  /**
   * Has SQLite undo its transaction, executes the groups of the epoch again, and has it commit them, so that what is
   * tried next begins from a clean state; where it can not, for the disk is full, it is tried with each group.
   */
  restore(connection: Connection): void {
    this.#isCautious = true;
    this.#bringBack(connection);
    if (this.#frameCount === 0 && !this.#isSpoiled) return;
    this.#isSpoiled = true;
    try {
      this.begin(connection);
      this.endEpoch(connection);
    } catch {
      this.#bringBack(connection);
    }
  }

  #bringBack(connection: Connection): void {
    this.#isOpen = false;
    this.#isBehind = true;
    connection.restore();
    const epoch = readEpoch(connection);
    // A COMMIT may tell of a failure after it took effect.
    if (epoch !== this.#epoch) this.#begin(epoch);
    const frames = this.#frames(this.#frameCount);
    if (frames.length < this.#frameCount) throw new SqliteFailure('io', 'the commit log is damaged');
    this.#isBehind = false;
    if (frames.length === 0) return;
    try {
      this.begin(connection);
      execute(connection, frames);
    } catch (error) {
      this.#isBehind = true;
      throw error;
    }
  }

  close(): void {
    this.#file.close();
  }

  #frames(countMax: number): (readonly Statement[])[] {
    const bytes = countMax > 0 ? this.#file.read() : new Uint8Array(0);
    const frames: (readonly Statement[])[] = [];
    for (let at = 0; frames.length < countMax; ) {
      const frame = decodeFrame(bytes, at, { epoch: this.#epoch, sequence: frames.length });
      if (frame === undefined) break;
      frames.push(frame.statements);
      at = frame.end;
    }
    return frames;
  }
}

function execute(connection: Connection, frames: readonly (readonly Statement[])[]): void {
  for (const statements of frames) for (const { sql, values } of statements) connection.run(sql, values);
  connection.takeRecords();
}

/** For what is better done, and may fail nevertheless. */
function attempt(work: () => void): void {
  try {
    work();
  } catch {
    // The disk fails; what needs it will say so.
  }
}

function readEpoch(connection: Connection): number {
  return Number(connection.all(READ_EPOCH)[0]?.value ?? 0);
}

function failureOf(cause: unknown): SqliteFailure {
  if (cause instanceof SqliteFailure) return cause;
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  const message = cause instanceof Error ? cause.message : String(cause);
  return new SqliteFailure(code === 'ENOSPC' || code === 'EDQUOT' ? 'full' : 'io', message, { cause });
}
