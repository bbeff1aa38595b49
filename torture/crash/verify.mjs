// Compares the store with the ledgers, and the results of items with one batch over the stored samples.

import {
  isTokenGood,
  readAll,
  readSeries,
  readSeriesList,
  SLOT_COUNT,
  slotOf,
  timeOf,
  UnexpectedError,
} from './api.mjs';
import { memberOf, nextWindowMs, patternOf, sourcesOf } from './items.mjs';

const SETTLED_MS_MAX = 300_000;
const POLL_MS = 50;

/** Something acknowledged is missing, or something else is stored. */
class LossError extends Error {}

/**
 * @param {{ url: string, lanes: object[], apis: Map<object, object>, batch: Function, counts: object }} cycle `apis` by
 *   lane.
 */
export async function verify(cycle) {
  for (const [access, lanes] of lanesByAccess(cycle.lanes)) {
    const api = cycle.apis.get(lanes[0]);
    const lists = {
      items: await readAll(api, '/core/operations'),
      events: await readAll(api, '/core/events', { ercollectionid: access.collection }),
    };
    for (const lane of lanes) await verifyLane(cycle, lane, await readLane(api, lane, lists));
    // From here on the ledgers are what is stored.
    for (const lane of lanes) await verifyResults(cycle, lane);
    await verifyMembers(cycle, api, lanes);
  }
}

/** The lanes of each organisation. */
function lanesByAccess(lanes) {
  const byAccess = new Map();
  for (const lane of lanes) byAccess.set(lane.access, [...(byAccess.get(lane.access) ?? []), lane]);
  return byAccess;
}

async function verifyLane({ url, apis, counts }, lane, stored) {
  const api = apis.get(lane);
  const { ledger } = lane;
  if (ledger.pending?.rows !== undefined) {
    const before = lane.ids.map((id) => ledger.seriesOf(id).slice());
    const fault = ledger.settleBeginning(new Map([...stored.series].map(([id, columns]) => [id, slotsOf(columns)])));
    if (fault !== undefined) throw new LossError(`${lane.name}: ${fault}`);
    const isStored = lane.ids.some(
      (id, i) => !before[i].every((value, slot) => Object.is(value, ledger.seriesOf(id)[slot])),
    );
    const how = isStored ? 'parts' : 'no part';
    counts.settled[how] = (counts.settled[how] ?? 0) + 1;
  } else if (ledger.pending?.isPartial) {
    counts.settled['by series'] = (counts.settled['by series'] ?? 0) + 1;
    ledger.settleParts((id, expected) => seriesDifference(ledger, expected, stored.series.get(id)) === undefined);
  }
  const withoutIt = differenceOf(lane, ledger, stored);
  if (ledger.pending === undefined) {
    if (withoutIt !== undefined) throw new LossError(`${lane.name}: ${withoutIt}`);
  } else {
    const withIt = differenceOf(lane, ledger.withPending(), stored);
    const { kind, sendAgain, token } = ledger.pending;
    const isRevoked = token !== undefined && !(await isTokenGood(url, token));
    if (withoutIt !== undefined && withIt !== undefined) {
      throw new LossError(`${lane.name}: half of the last request (${kind}) is there: ${withoutIt}; ${withIt}`);
    }
    // A request that changes nothing may count as done or not.
    const isDone = withoutIt !== undefined || isRevoked;
    const isEither = withoutIt === undefined && withIt === undefined;
    if (sendAgain !== undefined) {
      const isRepeated = await sendAgain(api);
      if (!isEither && isRepeated !== undefined && isRepeated !== isDone) {
        throw new LossError(`${lane.name}: sent again, a request is told to be ${isRepeated ? '' : 'not '}repeated`);
      }
    }
    counts.settled[isDone ? 'done' : 'not done']++;
    ledger.settle(isDone || sendAgain !== undefined);
  }
  for (const { token, isGood } of ledger.tokens.values()) {
    if ((await isTokenGood(url, token)) !== isGood) {
      throw new LossError(
        `${lane.name}: a token is ${isGood ? 'not known' : 'good'}, and was ${isGood ? 'given' : 'revoked'}`,
      );
    }
    counts.compared.tokens++;
  }
  counts.compared.series += stored.series.size;
  counts.compared.samples += [...stored.series.values()].reduce((sum, { timeMs }) => sum + timeMs.length, 0);
  counts.compared.events += stored.events.size;
  counts.compared.expired += expiredCount(lane, stored);
}

/** How many samples retention has deleted. */
function expiredCount({ seriesIds, ledger }, stored) {
  const countOf = (id) => ledger.columnsOf(id).timeMs.length - stored.series.get(id).timeMs.length;
  return seriesIds.reduce((sum, id) => sum + countOf(id), 0);
}

async function readLane(api, { seriesIds, name, ledger }, lists) {
  // A series without samples may not exist, and then a list that has it is refused.
  const known = seriesIds.filter((id) => ledger.hasSamples(id));
  const others = seriesIds.filter((id) => !known.includes(id));
  const series = await readSeriesList(api, known, 'Raw');
  for (const id of others) series.set(id, await readSeries(api, id, 'Raw'));
  const isOwn = (id) => id.startsWith(`${name}-`);
  const items = lists.items
    .filter(({ timeseriesId }) => isOwn(timeseriesId))
    // Members come and go later than their pattern: `verifyMembers`.
    .filter(({ pattern }) => pattern === null);
  const events = lists.events.filter(({ id }) => isOwn(id));
  return {
    series,
    items: new Map(items.map((item) => [`${item.timeseriesId} ${item.metric}`, item])),
    events: new Map(events.map((event) => [event.id, event])),
  };
}

/** The first difference between a ledger and the store. */
function differenceOf(lane, ledger, stored) {
  for (const id of lane.seriesIds) {
    const difference = seriesDifference(ledger, ledger.seriesOf(id), stored.series.get(id));
    if (difference !== undefined) return `${id}: ${difference}`;
  }
  const names = (map) => JSON.stringify([...map.keys()].sort());
  if (names(ledger.items) !== names(stored.items)) {
    return `the items are ${names(stored.items)}, expected ${names(ledger.items)}`;
  }
  for (const [name, { operations }] of ledger.items) {
    if (!isEqualJson(operations, stored.items.get(name).operations)) return `the item of ${name} is another one`;
  }
  if (names(ledger.events) !== names(stored.events)) {
    return `the events are ${names(stored.events)}, expected ${names(ledger.events)}`;
  }
  for (const [id, event] of ledger.events) {
    const found = stored.events.get(id);
    const keys = Object.keys(event);
    if (keys.some((key) => found[key] !== event[key])) return `the event ${id} is another one`;
  }
  return undefined;
}

function isEqualJson(a, b) {
  return JSON.stringify(a) === JSON.stringify(b);
}

function seriesDifference({ cutSlot }, expected, { timeMs, value }) {
  let at = 0;
  for (let slot = 0; slot < expected.length; slot++) {
    const isStored = at < timeMs.length && slotOf(timeMs[at]) === slot;
    const isExpected = !Number.isNaN(expected[slot]);
    if (isExpected && !isStored && slot >= cutSlot) return `the sample of slot ${slot} is not there`;
    if (!isExpected && isStored) return `there is a sample in slot ${slot}, ${value[at]}`;
    if (isStored && !Object.is(expected[slot], value[at++])) {
      return `slot ${slot} is ${value[at - 1]}, expected ${expected[slot]}`;
    }
  }
  return at === timeMs.length ? undefined : `${timeMs.length - at} samples that nobody wrote`;
}

/** The value at each slot; NaN where there is no sample. */
function slotsOf({ timeMs, value }) {
  const slots = new Float64Array(SLOT_COUNT).fill(Number.NaN);
  for (let i = 0; i < timeMs.length; i++) slots[slotOf(timeMs[i])] = value[i];
  return slots;
}

/** The worker catches up in the background, so results are compared until they are right. */
async function verifyResults({ apis, batch, counts }, lane) {
  const api = apis.get(lane);
  const pattern = patternOf(lane.name).metric;
  const { ledger } = lane;
  for (const [name, item] of ledger.items) {
    const [id, metric] = name.split(' ');
    if (metric === pattern) continue;
    await insistOn(
      () => resultDifference(api, batch, { ledger, item, id, metric, beginSlot: ledger.beginSlots.get(name) }),
      async (difference) => {
        const items = await readAll(api, '/core/operations');
        const found = items.find(({ timeseriesId, metric: own }) => timeseriesId === id && own === metric);
        return `${name} is no batch over the stored samples: ${difference}\n${JSON.stringify(found)}`;
      },
    );
    counts.compared.results++;
  }
}

/** A pattern has a member for each of its series, and each member its result; no member is left without its pattern. */
async function verifyMembers({ batch, counts }, api, lanes) {
  let members;
  const difference = async () => {
    const items = (await readAll(api, '/core/operations')).filter(({ pattern }) => pattern !== null);
    members = lanes.flatMap((lane) => {
      const own = items.filter(({ timeseriesId }) => timeseriesId.startsWith(`${lane.name}-`));
      return own.map(({ timeseriesId: id }) => ({ lane, id }));
    });
    const faults = lanes.map((lane) =>
      memberDifference(
        lane,
        members.filter((one) => one.lane === lane),
      ),
    );
    return faults.find((fault) => fault !== undefined);
  };
  await insistOn(difference, (fault) => fault);
  for (const { lane, id } of members) {
    const item = memberOf(id);
    const { ledger } = lane;
    // It may have been registered at any time since its series appeared.
    const beginSlot = ledger.cutSlot;
    await insistOn(
      () => resultDifference(api, batch, { ledger, item, id, metric: item.metric, beginSlot }),
      (found) => `${id} ${item.metric} is no batch over the stored samples: ${found}`,
    );
    counts.compared.members++;
  }
}

function memberDifference({ name, ledger, zones }, members) {
  const isRegistered = ledger.items.has(`${name}-zone-{n} ${patternOf(name).metric}`);
  const expected = isRegistered ? zones.filter((id) => ledger.hasSamples(id)) : [];
  const possible = isRegistered ? zones : [];
  const found = members.map(({ id }) => id).sort();
  const isRight = expected.every((id) => found.includes(id)) && found.every((id) => possible.includes(id));
  if (isRight && new Set(found).size === found.length) return undefined;
  return `the members of ${name}-zone-{n} are ${found}; expected ${expected}`;
}

/**
 * Looks until nothing is wrong.
 *
 * @param {() => Promise<string | undefined>} find what is wrong
 * @param {(fault: string) => string | Promise<string>} describe it, if that does not end
 */
async function insistOn(find, describe) {
  for (const untilMs = performance.now() + SETTLED_MS_MAX; ; ) {
    const fault = await find();
    if (fault === undefined) return;
    if (performance.now() > untilMs) throw new LossError(await describe(fault));
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/**
 * Compares a result with one batch over all samples that were ever stored.
 *
 * @param beginSlot before it, retention may have deleted samples when the item was registered, which began with what
 *   was left.
 */
async function resultDifference(api, batch, { ledger, item, id, metric, beginSlot }) {
  const sources = [];
  for (const source of sourcesOf(item)) {
    const { timeseriesId } = source;
    const isRaw = source.metric === 'Raw';
    const columns = isRaw ? ledger.columnsOf(timeseriesId) : await readSeries(api, timeseriesId, source.metric);
    sources.push({ ...source, ...columns });
  }
  const stored = await readSeries(api, id, metric);
  const fromMs = beginSlot === 0 ? Number.NEGATIVE_INFINITY : nextWindowMs(metric, timeOf(beginSlot));
  let expected;
  try {
    expected = batch(item, sources);
  } catch (cause) {
    throw new UnexpectedError(`the batch of ${id} ${metric} fails: ${cause.message}`, { cause });
  }
  return columnsDifference(columnsFrom(stored, fromMs), columnsFrom(expected, fromMs));
}

function columnsDifference(stored, expected) {
  if (expected.timeMs.length !== stored.timeMs.length) {
    return `${stored.timeMs.length} samples, expected ${expected.timeMs.length}`;
  }
  for (let i = 0; i < stored.timeMs.length; i++) {
    if (stored.timeMs[i] !== expected.timeMs[i] || !Object.is(stored.value[i], expected.value[i])) {
      const at = ({ timeMs, value }) => `${timeMs[i]} ${value[i]}`;
      return `sample ${i} is ${at(stored)}, expected ${at(expected)}`;
    }
  }
  return undefined;
}

function columnsFrom({ timeMs, value }, fromMs) {
  const from = timeMs.findIndex((time) => time >= fromMs);
  return from < 0 ? { timeMs: [], value: [] } : { timeMs: timeMs.subarray(from), value: value.subarray(from) };
}
