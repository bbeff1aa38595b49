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
  const counted = (tx: Transaction): Transaction =>
    new Proxy(tx, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== 'function') return value;
        return async (...given: readonly unknown[]) => {
          const table: unknown = Object(given[0]).name;
          const key = `${String(name)} ${table}`;
          asked.counts.set(key, (asked.counts.get(key) ?? 0) + 1);
          asked.mostInTurn = Math.max(asked.mostInTurn, ++inTurn);
          const found: unknown = await value.apply(target, given);
          if (key === 'find segments' && Array.isArray(found)) asked.segmentRows += found.length;
          return found;
        };
      },
    });
  // In both drivers a transaction of one shard is one over a list of shards.
  const transactionOver = storage.transactionOver.bind(storage);
  storage.transactionOver = (shards, work, options) =>
    transactionOver(shards, (txs) => work(txs.map(counted)), options);
  return asked;
}
