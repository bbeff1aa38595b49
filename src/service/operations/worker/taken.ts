import { nextDouble } from '../../../core/next-double.js';
import { type Deletable, lastExpiredMs } from '../../../storage/samples/compaction/retention.js';
import type { Session } from './session.js';

/** Readers of a series that are looked up together. */
const READERS_LOOKED_UP = 100;

/** A series with samples that have expired, and the time of the last of them. */
export interface Ending extends Deletable {
  readonly endMs: number;
}

/** An ending with what all items that read the series have taken: the samples before `beforeMs` may be deleted. */
export interface Taken extends Ending {
  readonly takenMs: number;
  /** Readers that have failed, and hold nothing. */
  readonly failedIds: readonly string[];
}

/** Series may be deleted up to where they were taken, as long as no item has lost its base since. */
export interface TakenSeries {
  readonly series: readonly Taken[];
  readonly basesVersion: string;
}

export interface TakenParts {
  inSession<Result>(work: (session: Session) => Promise<Result>): Promise<Result | undefined>;
  isStopping(): boolean;
  readonly organisation: string;
}

/** How far the readers of a series were looked at. */
interface Look {
  readonly ending: Ending;
  takenMs: number;
  failedIds: string[];
  readCount: number;
}

/**
 * Looks at all items that read some series, in several transactions: there may be more than stay in memory.
 *
 * @returns undefined if an item has lost its base meanwhile, or at a stop.
 */
export async function findTaken(parts: TakenParts, endings: readonly Ending[]): Promise<TakenSeries | undefined> {
  const looks = endings.map(
    (ending): Look => ({ ending, takenMs: Number.POSITIVE_INFINITY, failedIds: [], readCount: 0 }),
  );
  let basesVersion: string | undefined;
  for (let done = 0; done < looks.length; ) {
    if (parts.isStopping()) return undefined;
    const found = await parts.inSession(async (session) => {
      const version = session.basesVersion;
      return { version, doneCount: await lookAtSome(session, parts.organisation, looks.slice(done)) };
    });
    basesVersion ??= found?.version;
    if (found === undefined || found.version !== basesVersion) return undefined;
    done += found.doneCount;
  }
  const series = looks.map(({ ending, takenMs, failedIds }) => {
    return { ...ending, beforeMs: Math.min(ending.beforeMs, nextDouble(takenMs)), takenMs, failedIds };
  });
  return { series, basesVersion: basesVersion ?? '' };
}

/** @returns how many of the first series are done. */
async function lookAtSome(session: Session, organisation: string, looks: readonly Look[]): Promise<number> {
  let doneCount = 0;
  do {
    const look = looks[doneCount]!;
    const { row } = look.ending;
    const ids = await session.readerIdsOf(organisation, row);
    const some = ids.slice(look.readCount, look.readCount + READERS_LOOKED_UP);
    for (const { base, sources, schedule } of await session.itemsOf(organisation, some)) {
      look.takenMs = Math.min(look.takenMs, base.takenMs(sources.indexOf(row)));
      if (schedule.isOver) look.failedIds.push(schedule.row.itemId);
      await session.countWork();
    }
    look.readCount += some.length;
    if (look.readCount >= ids.length) doneCount++;
    await session.countWork();
  } while (doneCount < looks.length && session.hasRoom);
  return doneCount;
}

/**
 * Items that have failed do not hold what is about to be deleted: their bases go with it.
 *
 * @returns what may be deleted now; undefined if another item has lost its base meanwhile, or at a stop.
 */
export async function dropFailedBases(
  parts: TakenParts,
  { series, basesVersion }: TakenSeries,
): Promise<TakenSeries | undefined> {
  let version = basesVersion;
  for (const one of series) {
    for (let from = 0; from < one.failedIds.length; from += READERS_LOOKED_UP) {
      const ids = one.failedIds.slice(from, from + READERS_LOOKED_UP);
      const next = parts.isStopping()
        ? undefined
        : await parts.inSession((session) => dropSome(session, parts.organisation, { one, ids, version }));
      if (next === undefined) return undefined;
      version = next;
    }
  }
  return { series, basesVersion: version };
}

async function dropSome(
  session: Session,
  organisation: string,
  { one, ids, version }: { readonly one: Taken; readonly ids: readonly string[]; readonly version: string },
): Promise<string | undefined> {
  if (session.basesVersion !== version) return undefined;
  const lastMs = await lastExpiredMs(session.tx, one);
  for (const { base, sources } of lastMs === undefined ? [] : await session.itemsOf(organisation, ids)) {
    await base.dropBehind(session, sources.indexOf(one.row), lastMs!);
    await session.countWork();
  }
  return session.basesVersion;
}
