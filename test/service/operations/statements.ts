import type { Transaction } from '../../../src/storage/storage.js';
import type { Rig } from './rig.js';

/** The statements that the store got: counts by method and table, and the most within one turn of the event loop. */
export interface Asked {
  readonly counts: Map<string, number>;
  /** Rows of segments that were read. */
  segmentRows: number;
  mostInTurn: number;
  stop(): void;
}

export function countStatements({ context }: Rig): Asked {
  let inTurn = 0;
  let timer: NodeJS.Immediate;
  const countTurns = (): void => {
    inTurn = 0;
    timer = setImmediate(countTurns);
  };
  const asked: Asked = { counts: new Map(), segmentRows: 0, mostInTurn: 0, stop: () => clearImmediate(timer) };
  countTurns();
  const { storage } = context;
  const onAsked = (key: string): void => {
    asked.counts.set(key, (asked.counts.get(key) ?? 0) + 1);
    asked.mostInTurn = Math.max(asked.mostInTurn, ++inTurn);
  };
  const onFound = (key: string, found: unknown): void => {
    if (key === 'find segments' && Array.isArray(found)) asked.segmentRows += found.length;
  };
  // In both drivers a transaction of one shard is one over a list of shards.
  const transactionOver = storage.transactionOver.bind(storage);
  storage.transactionOver = (shards, work, options) =>
    transactionOver(shards, (txs) => work(txs.map((tx) => watched(tx, onAsked, onFound))), options);
  return asked;
}

/** A transaction that tells of its statements, by method and table: of what each is given, and of what comes of it. */
export function watched(
  tx: Transaction,
  onAsked: (key: string, given: readonly unknown[]) => void,
  onFound: (key: string, found: unknown) => void = () => {},
): Transaction {
  return new Proxy(tx, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      return async (...given: readonly unknown[]) => {
        const key = `${String(name)} ${Object(given[0]).name}`;
        onAsked(key, given);
        const found: unknown = await value.apply(target, given);
        onFound(key, found);
        return found;
      };
    },
  });
}
