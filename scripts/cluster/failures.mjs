// What befalls the primary of servers under a tool that fails over: it is killed, hangs, or is cut off.

import { setTimeout as wait } from 'node:timers/promises';

/** How long what has failed stays as it is once another one has taken over. */
const REST_MS_MAX = 10_000;

/**
 * By name: how it begins and ends, and whether another node may take over in between.
 *
 * @param {import('./managed.mjs').Managed} servers
 * @param {() => number} random
 */
export function failures(servers, random) {
  const all = { ...kills(servers, random), ...hangs(servers, random) };
  return Object.entries(servers.network.isReal ? { ...all, ...cuts(servers, random) } : all);
}

function rest(random) {
  return wait(random() * REST_MS_MAX);
}

function kills(servers, random) {
  return {
    'was killed with its keeper': {
      mayBeTakenOver: true,
      begin: (node) => node.kill(),
      end: async (node) => {
        await rest(random);
        servers.keep(node);
      },
    },
    'had its postgres killed, which its keeper restarted': {
      mayBeTakenOver: false,
      begin: (node) => servers.killServer(node),
      end: () => {},
    },
    // What it had committed alone is seen after the restart, before the standbys have it.
    'was killed just after its postgres was restarted': {
      mayBeTakenOver: true,
      begin: async (node) => {
        await servers.killServer(node);
        while (!(await servers.isUp(node))) await wait(10);
        await wait(random() * 2000);
        await node.kill();
      },
      end: async (node) => {
        await rest(random);
        servers.keep(node);
      },
    },
    // The first comes back sooner than the second, which alone may have what was acknowledged in between. More than the
    // tools promise, so only if it is asked for.
    'was killed, and then the one that took over': {
      isTwofold: true,
      mayBeTakenOver: false,
      begin: async (node) => {
        await node.kill();
        let next = node;
        while (next === node) {
          await wait(100);
          next = (await servers.primary().catch(() => node)) ?? node;
        }
        await wait(random() * 10_000);
        await next.kill();
        servers.keep(node);
        await wait(REST_MS_MAX + random() * 30_000);
        servers.keep(next);
      },
      end: () => {},
    },
  };
}

function hangs(servers, random) {
  return {
    'hung, and came back': {
      mayBeTakenOver: true,
      begin: (node) => node.freeze(),
      end: async (node) => {
        await rest(random);
        node.thaw();
      },
    },
    // Nobody tells it that it is the primary no more, and it listens for writes.
    'hung, and came back without its keeper': {
      mayBeTakenOver: true,
      begin: (node) => node.freeze(),
      end: async (node) => {
        await servers.killKeeper(node);
        node.thaw();
        await wait(REST_MS_MAX);
        await node.kill();
        servers.keep(node);
      },
    },
  };
}

function cuts({ network }, random) {
  return {
    'was cut off from the other nodes, not from windrow': {
      mayBeTakenOver: true,
      begin: (node) => network.cut(node),
      end: async (node) => {
        await rest(random);
        await network.mend(node);
      },
    },
    'was cut off from all others': {
      mayBeTakenOver: true,
      begin: (node) => network.cutAll(node),
      end: async (node) => {
        await rest(random);
        await network.mend(node);
      },
    },
  };
}
