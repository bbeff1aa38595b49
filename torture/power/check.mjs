// Opens what a power failure left, as the service does, and compares it with what was acknowledged.

import { createHash } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { applyTo, EVENT_LANE, ORGANISATION, requestsOf, seriesOf, TOKEN_LANE, timeOf } from './plan.mjs';

const clock = { nowMs: () => 0, monotonicMs: () => 0 };

/** The expected state after each number of a lane's requests, as a hash. */
export function expectedStates(seed, lane, count) {
  const model = new Map();
  const states = [hashOf(lane, model)];
  for (const request of requestsOf(seed, lane)) {
    if (states.length > count + 1) return states;
    applyTo(model, request);
    states.push(hashOf(lane, model));
  }
  return states;
}

function hashOf(lane, model) {
  if (lane === EVENT_LANE) return hash([...model].sort());
  const sorted = [...model].sort(([a], [b]) => a - b);
  const timeMs = Float64Array.from(sorted, ([minute]) => timeOf(minute));
  return hash({ timeMs, value: Float64Array.from(sorted, ([, value]) => value) });
}

function hash(of) {
  const digest = createHash('sha1');
  if (Array.isArray(of)) digest.update(JSON.stringify(of));
  else digest.update(Buffer.from(of.timeMs.buffer)).update(Buffer.from(Float64Array.from(of.value).buffer));
  return digest.digest('hex');
}

/**
 * @param parts of the bundle.
 * @param folder in memory, for the files.
 * @param states of each lane, from `expectedStates`.
 */
export function createCheck(parts, folder, states) {
  const { openSqliteStorage, createSampleStore, shardOf, IDENTITY_SHARD, tokens, events, NEVER } = parts;
  let opened = 0;
  return async (files, acknowledged, givenTokens) => {
    const directory = join(folder, `image-${opened++}`);
    mkdirSync(directory);
    for (const [name, bytes] of files) writeFileSync(join(directory, name), bytes);
    // The file differs from the one last opened, so the store checks all of it (`PRAGMA integrity_check`).
    const storage = await openSqliteStorage({ directory, clock, reserveBytes: 0 });
    try {
      const samples = createSampleStore({ clock });
      const shard = shardOf(ORGANISATION);
      const found = await storage.read(shard, async (tx) => {
        const hashes = [];
        for (let lane = 0; lane < EVENT_LANE; lane++) {
          const { timeMs, value } = await samples.read(tx, ORGANISATION, seriesOf(lane));
          hashes.push(hash({ timeMs: timeMs.slice(), value }));
          // Results are read too: they must not be damaged.
          await samples.read(tx, ORGANISATION, { ...seriesOf(lane), metric: 'Hourly' });
        }
        const rows = await tx.find(events, { where: [['endCommit', '=', NEVER]] });
        hashes.push(hash(rows.map(({ id, name }) => [id, name]).sort()));
        return hashes;
      });
      for (let lane = 0; lane < TOKEN_LANE; lane++) {
        const count = acknowledged[lane];
        // The request in flight may be there, if complete.
        if (states[lane][count] === found[lane] || states[lane][count + 1] === found[lane]) continue;
        const known = states[lane].indexOf(found[lane]);
        throw new Error(`lane ${lane}: ${count} requests were acknowledged, and what is there is that of ${known}`);
      }
      for (const token of givenTokens) {
        const tokenHash = createHash('sha256').update(token).digest('base64url');
        const row = await storage.read(IDENTITY_SHARD, (tx) => tx.get(tokens, { tokenHash }));
        if (row === undefined) throw new Error('a token that was given is not there');
      }
    } finally {
      await storage.close();
      rmSync(directory, { recursive: true });
    }
  };
}
