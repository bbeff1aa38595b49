// Power cuts: records the system calls of a working service, derives from every prefix of them what a disk may hold at
// that moment, with unsynced writes lost, reordered and torn, and opens each of these images.
//
//   npm run torture:power -- --images 100000 --seed 1 --requests 30
//
// --requests is how many each client sends.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { readOptions } from '../scripts/options.mjs';
import { createCheck, expectedStates } from './power/check.mjs';
import { bundleParts } from './power/parts.mjs';
import { LANES, TOKEN_LANE } from './power/plan.mjs';
import { Disk, readTrace, TRACED } from './power/trace.mjs';
import { createRandom } from './random.mjs';

const { options } = readOptions(import.meta.url, {
  images: { type: 'number', default: 2000 },
  seed: { type: 'number', default: Math.floor(Math.random() * 2 ** 31) },
  requests: { type: 'number', default: 30 },
});

/** The number of images per run of a service; more images are made from further runs. */
const IMAGES_OF_RUN = 5000;
const firstSeed = options.seed;
const random = createRandom(firstSeed);
const NAMES = ['windrow.db', 'windrow.db-wal'];
const folder = mkdtempSync(join(tmpdir(), 'windrow-power-'));
const memory = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'windrow-power-'));
const counts = { runs: 0, images: 0, operations: 0, byKind: {}, syncs: 0, acknowledged: 0 };

/** A store that was stopped gracefully, so that the workload finds what a service usually finds. */
async function makeStore(parts, directory) {
  mkdirSync(directory);
  const clock = { nowMs: () => 0, monotonicMs: () => 0 };
  await (await parts.openSqliteStorage({ directory, clock, reserveBytes: 0 })).close();
  const there = NAMES.filter((name) => existsSync(join(directory, name)));
  return new Map(there.map((name) => [name, readFileSync(join(directory, name))]));
}

async function record(partsUrl, directory, seed) {
  const trace = join(folder, 'trace');
  // Only the main thread, in which SQLite works.
  const words = ['-y', '-xx', '-s', '1000000', '-e', TRACED, '-o', trace, process.execPath];
  const program = [resolve('torture/power/workload.mjs'), partsUrl, directory, String(seed), String(options.requests)];
  const { status, stderr } = spawnSync('strace', [...words, ...program], { encoding: 'utf8', maxBuffer: 2 ** 28 });
  if (status !== 0) throw new Error(`the workload ended with ${status}: ${stderr}`);
  const operations = await readTrace(trace, directory);
  const isOfStore = ({ kind, file }) => kind === 'mark' || kind === 'syncDirectory' || NAMES.includes(file);
  return operations.filter(isOfStore);
}

/** The ways in which a disk keeps unsynced writes. */
const ways = {
  lost: () => () => 'lost',
  kept: () => () => undefined,
  reordered: () => {
    const share = random.next();
    return () => (random.chance(share) ? undefined : 'lost');
  },
  torn: () => {
    const share = random.next();
    const sectors = random.next();
    return () => (random.chance(share) ? () => random.chance(sectors) : 'lost');
  },
  'cut off': () => {
    // In order up to one write, of which the first part is kept.
    let left = random.below(40);
    return () => {
      if (left-- > 0) return undefined;
      const end = left === -1 ? random.below(16) : 0;
      let sectorCount = 0;
      return end === 0 ? 'lost' : () => sectorCount++ < end;
    };
  },
};

async function run(parts, partsUrl, seed, imagesWanted) {
  const directory = join(folder, `store-${seed}`);
  const before = await makeStore(parts, directory);
  const operations = await record(partsUrl, directory, seed);
  const states = Array.from({ length: TOKEN_LANE }, (_, lane) => expectedStates(seed, lane, options.requests));
  const check = createCheck(parts, memory, states);
  const disk = new Disk(before);
  const acknowledged = new Array(LANES).fill(0);
  const tokens = [];
  let imageCount = 0;
  counts.runs++;
  counts.operations += operations.length;
  for (let prefix = 0; prefix <= operations.length; prefix++) {
    // The same number for each prefix, whatever the number of prefixes.
    const until = Math.floor(((prefix + 1) * imagesWanted) / (operations.length + 1));
    for (; imageCount < until; imageCount++) {
      const names = Object.keys(ways);
      const way = names[counts.images % names.length];
      const sectorBytes = random.pick([512, 4096]);
      const image = disk.image(ways[way](), sectorBytes, () => random.chance(0.5));
      await check(image, acknowledged, tokens).catch((error) => {
        keep(image);
        const of = `image ${counts.images} (${way}, sectors of ${sectorBytes}) of prefix ${prefix}`;
        error.message = `${of}: ${error.message}`;
        throw error;
      });
      counts.images++;
      counts.byKind[way] = (counts.byKind[way] ?? 0) + 1;
      if (counts.images % 10_000 === 0) console.error(`${counts.images} images`);
    }
    const next = operations[prefix];
    if (next === undefined) break;
    disk.do(next);
    if (next.kind === 'sync') counts.syncs++;
    if (next.kind === 'mark' && next.words[0] === 'acknowledged') {
      const [, lane, , token] = next.words;
      acknowledged[Number(lane)]++;
      counts.acknowledged++;
      if (token !== undefined) tokens.push(token);
    }
  }
}

function keep(image) {
  const kept = join(folder, 'failed');
  mkdirSync(kept, { recursive: true });
  for (const [name, bytes] of image) writeFileSync(join(kept, name), bytes);
}

const startMs = performance.now();
try {
  const partsUrl = await bundleParts(folder);
  const parts = await import(partsUrl);
  const wanted = options.images;
  for (let made = 0, seed = firstSeed; made < wanted; made += IMAGES_OF_RUN, seed++) {
    await run(parts, partsUrl, seed, Math.min(IMAGES_OF_RUN, wanted - made));
  }
  rmSync(folder, { recursive: true, force: true });
} catch (error) {
  console.error(error);
  console.error(`FAILED with seed ${firstSeed}; the image is in ${folder}/failed`);
  process.exitCode = 1;
}
rmSync(memory, { recursive: true, force: true });
console.log(
  JSON.stringify(
    { seed: firstSeed, seconds: Math.round((performance.now() - startMs) / 1000), ...counts },
    undefined,
    2,
  ),
);
