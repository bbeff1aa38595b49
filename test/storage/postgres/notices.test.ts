import { EventEmitter } from 'node:events';
import { expect, it } from 'vitest';
import { Connection, type ConnectionParts } from '../../../src/storage/postgres/connection.js';

// The server's words for WARNING, as `lc_messages` has them.
it.each(['WARNING', 'WARNUNG', 'ATTENTION', '警告'])(
  'a commit whose wait for the standby was cancelled is not confirmed, though the server says so by %s',
  async (severity) => {
    let notice: object | undefined;
    const client = Object.assign(new EventEmitter(), {
      query: async () => {
        if (notice !== undefined) client.emit('notice', notice);
        return { rows: [] };
      },
    });
    let confirmedCount = 0;
    const parts = { client, timeline: 1, slowMs: 1000, onSlow: () => {}, onConfirmed: () => confirmedCount++ };
    const connection = new Connection(parts as unknown as ConnectionParts); // `as`: what a commit uses of them
    await connection.commit('SELECT 1');
    notice = { severity: 'HINWEIS', code: '00000', message: 'all is well' };
    await connection.commit('SELECT 1');
    expect(confirmedCount).toBe(2);
    const warning = {
      severity,
      code: '01000',
      message: 'database "windrow" must be vacuumed within 40000000 transactions',
    };
    notice = { ...warning, routine: 'GetNewTransactionId' };
    await connection.commit('SELECT 1');
    expect(confirmedCount).toBe(3);
    const message = 'canceling wait for synchronous replication';
    notice = { severity, code: '01000', message, routine: 'SyncRepWaitForLSN' };
    await expect(connection.commit('SELECT 1')).rejects.toMatchObject({ kind: 'lost', message });
    notice = {
      severity,
      code: '25P01',
      message: 'there is no transaction in progress',
      routine: 'EndTransactionBlock',
    };
    await expect(connection.commit('SELECT 1')).rejects.toMatchObject({ kind: 'lost' });
    expect(confirmedCount).toBe(3);
  },
);
