// A client that uses everything the service offers, one request at a time, and keeps a ledger of it.

import { gzipSync } from 'node:zlib';
import {
  askTwice,
  bodyOf,
  forms,
  insist,
  RefusedError,
  readAll,
  requestToken,
  revokeToken,
  SLOT_COUNT,
  streamedForms,
  timeOf,
  UnansweredError,
  UnexpectedError,
} from './api.mjs';
import { itemOf, metrics, patternOf } from './items.mjs';
import { Ledger } from './ledger.mjs';

const SIZE_DIGITS = 4;
const EVENT_COUNT = 200;
const TOKENS_MAX = 6;
const ZONES_MAX = 12;
/** A rule of retention ends this many slots before the samples that clients still write, as its end moves on. */
const RETENTION_MARGIN = 300;

export class Lane {
  ledger = new Ledger();
  #random;
  #nextSlot;
  #offset = 0;
  #tokenCount = 0;

  /** @param counts of what was done, over all lanes. */
  constructor({ name, access, random, counts }) {
    this.name = name;
    this.access = access;
    this.ids = ['a', 'b', 'c', 'd'].map((letter) => `${name}-${letter}`);
    /** Series that appear one after the other, each a member of a pattern. */
    this.zones = [];
    this.counts = counts;
    this.#random = random;
    this.#nextSlot = new Map(this.ids.map((id) => [id, 0]));
  }

  get seriesIds() {
    return [...this.ids, ...this.zones];
  }

  /** Sends one request after another until the service stops answering, or `isOver`. */
  async run(url, api, isOver) {
    try {
      while (!isOver()) await this.#do(this.#choose(url), api);
    } catch (error) {
      if (!(error instanceof UnansweredError)) throw error;
      this.counts.unanswered++;
    }
  }

  async #do(request, api) {
    const { ledger, counts } = this;
    ledger.pending = request;
    const answer = await request.send(api).catch((error) => {
      if (error instanceof RefusedError) return { isRefused: true };
      throw error;
    });
    // A body of several parts may be refused after some of them were stored.
    if (answer.isRefused && request.rows !== undefined) throw new UnansweredError(request.kind);
    ledger.settle(!answer.isRefused);
    if (answer.isRefused) counts.refused++;
    else {
      counts.acknowledged[request.kind] = (counts.acknowledged[request.kind] ?? 0) + 1;
      counts.samples += request.sampleCount ?? 0;
    }
  }

  #choose(url) {
    const share = this.#random.next();
    if (share < 0.02) return this.#samplesInParts();
    if (share < 0.12) return this.#samplesOfZone();
    if (share < 0.6) return this.#samples();
    if (share < 0.68) return this.#deletion();
    if (share < 0.71) return this.#retention() ?? this.#samples();
    if (share < 0.73) return this.#patternRegistration();
    if (share < 0.78) return this.#registration();
    if (share < 0.8) return this.#itemEnd() ?? this.#samples();
    if (share < 0.9) return this.#events();
    if (share < 0.93) return this.#eventDeletion() ?? this.#events();
    if (share < 0.97) return this.#token(url);
    return this.#revocation(url) ?? this.#token(url);
  }

  #samples() {
    const random = this.#random;
    const ids = this.ids.slice(0, random.chance(0.6) ? 1 : 1 + random.below(this.ids.length));
    const count = Math.ceil(random.size(SIZE_DIGITS) / ids.length);
    const parts = ids.map((id) => this.#part(id, count));
    const { type, body } = bodyOf(random.pick(forms), parts);
    const isPacked = random.chance(0.25);
    const origin = random.chance(0.3) ? this.#takeOffset() : undefined;
    const headers = { 'content-type': type, ...(isPacked ? { 'content-encoding': 'gzip' } : {}), ...origin };
    const send = (api) => api.call('POST', '/core/samples', { headers, body: isPacked ? gzipSync(body) : body });
    return {
      kind: origin === undefined ? 'samples' : 'samples of a queue',
      series: ids,
      sampleCount: parts.reduce((sum, { slots }) => sum + slots.length, 0),
      send,
      // If the series are in several shards, each is stored whole or not at all.
      isPartial: this.access.isSpread && origin === undefined,
      // A repeated request of a queue is answered, and takes effect once.
      sendAgain:
        origin === undefined
          ? undefined
          : async (api) => {
              let wasUnanswered = false;
              const sendNoting = () =>
                send(api).catch((error) => {
                  wasUnanswered = true;
                  throw error;
                });
              const { bytes } = await insist('POST /core/samples', () => askTwice(sendNoting));
              // What had no answer may have been stored just now.
              return wasUnanswered ? undefined : JSON.parse(bytes.toString()).data.isRepeated;
            },
      apply: (ledger, isDone = () => true) => {
        for (const { id, slots, values } of parts.filter((part) => isDone(part.id))) {
          const stored = ledger.seriesOf(id);
          for (const [i, slot] of slots.entries()) stored[slot] = values[i];
        }
      },
    };
  }

  /** More samples than the service stores at once, in a format that it does not read as a whole. */
  #samplesInParts() {
    const random = this.#random;
    const { cutSlot } = this.ledger;
    const parts = this.ids.map((id) => {
      const slots = Array.from({ length: SLOT_COUNT - cutSlot }, (_, i) => cutSlot + i);
      return { id, slots, values: slots.map(() => Math.round(random.next() * 1000) / 10) };
    });
    const { type, body } = bodyOf(random.pick(streamedForms), parts);
    return {
      kind: 'samples in parts',
      series: this.ids,
      sampleCount: parts.length * (SLOT_COUNT - cutSlot),
      send: (api) => api.call('POST', '/core/samples', { headers: { 'content-type': type }, body }),
      rows: parts.flatMap(({ id, slots, values }) => slots.map((slot, i) => ({ id, slot, value: values[i] }))),
      // If the series are in several shards, each is stored up to an end of a part of its own.
      isPartial: this.access.isSpread,
      apply: (ledger) => {
        for (const { id, slots, values } of parts) {
          for (const [i, slot] of slots.entries()) ledger.seriesOf(id)[slot] = values[i];
        }
      },
    };
  }

  /** Samples of a series that is new, or was. */
  #samplesOfZone() {
    const random = this.#random;
    const isNew = this.zones.length === 0 || (this.zones.length < ZONES_MAX && random.chance(0.4));
    const id = isNew ? `${this.name}-zone-${this.zones.length}` : random.pick(this.zones);
    if (isNew) {
      this.zones.push(id);
      this.#nextSlot.set(id, this.ledger.cutSlot);
    }
    const part = this.#part(id, random.size(SIZE_DIGITS - 1));
    const { type, body } = bodyOf(random.pick(forms), [part]);
    return {
      kind: 'samples of zones',
      series: [id],
      sampleCount: part.slots.length,
      send: (api) => api.call('POST', '/core/samples', { headers: { 'content-type': type }, body }),
      apply: (ledger) => {
        const stored = ledger.seriesOf(id);
        for (const [i, slot] of part.slots.entries()) stored[slot] = part.values[i];
      },
    };
  }

  #part(id, count) {
    const random = this.#random;
    const isAhead = random.chance(0.6);
    const { cutSlot } = this.ledger;
    let slot = isAhead ? Math.max(cutSlot, this.#nextSlot.get(id)) : this.#anySlot();
    const stride = isAhead ? 1 : 1 + random.below(5);
    const slots = [];
    for (; slots.length < count && slot < SLOT_COUNT; slot += stride) slots.push(slot);
    if (isAhead) this.#nextSlot.set(id, slot >= SLOT_COUNT ? cutSlot : slot);
    const value = random.pick([
      () => Math.round(random.next() * 1000) / 10,
      () => random.next() * 1e6 - 5e5,
      () => random.below(100),
      () => (random.chance(0.5) ? -0 : random.next() * 5e-324 * 2 ** 52),
    ]);
    return { id, slots, values: slots.map(value) };
  }

  /** One of those that samples are still written to. */
  #anySlot() {
    const { cutSlot } = this.ledger;
    return cutSlot + this.#random.below(SLOT_COUNT - cutSlot);
  }

  #takeOffset() {
    const offset = this.#offset++;
    return { source: 'torture', partition: this.name, offset: String(offset) };
  }

  #deletion() {
    const random = this.#random;
    const id = random.pick(this.seriesIds);
    const from = this.#anySlot();
    const until = Math.min(SLOT_COUNT, from + random.size(SIZE_DIGITS));
    const instant = (slot) => encodeURIComponent(new Date(timeOf(slot)).toISOString());
    const path = `/core/timeseries/${id}/samples?startTime=${instant(from)}&endTime=${instant(until)}`;
    return {
      kind: 'deletions',
      series: [id],
      // 404 if the series does not exist.
      send: (api) => api.call('DELETE', path, { expect: [200, 404] }),
      apply: (ledger) => void ledger.seriesOf(id).fill(Number.NaN, from, until),
    };
  }

  /** A rule for each series, as of which the oldest samples may be deleted at any time. */
  #retention() {
    const random = this.#random;
    const least = this.ledger.cutSlot + RETENTION_MARGIN;
    const cutSlot = least + random.size(SIZE_DIGITS - 1);
    if (cutSlot > SLOT_COUNT / 2) return undefined;
    const keepMs = Date.now() - timeOf(cutSlot - RETENTION_MARGIN);
    const headers = { 'content-type': 'application/json' };
    const ids = this.seriesIds;
    // Whether it is answered or not.
    this.ledger.cutSlot = cutSlot;
    return {
      kind: 'rules of retention',
      send: async (api) => {
        const answers = ids.map((timeseriesId) => {
          const body = JSON.stringify({ keep: `PT${keepMs / 1000}S`, timeseriesId, metric: 'Raw' });
          return api.call('POST', '/core/retention', { headers, body, expect: [200, 201] });
        });
        const found = await Promise.all(answers);
        return found.find(({ isRefused }) => isRefused) ?? { isRefused: false };
      },
      apply: () => {},
    };
  }

  #registration() {
    const random = this.#random;
    const id = random.pick(this.ids);
    const other = random.pick(this.ids);
    const chosen = metrics.filter(() => random.chance(0.4));
    // An item that reads a stored result is posted alone; together, it would get the definition of the other item.
    const isChain = random.chance(0.3);
    const names = isChain ? ['Daily'] : chosen.filter((metric) => metric !== 'Daily');
    const items = (names.length === 0 ? ['Hourly'] : names).map((metric) => itemOf(metric, id, other));
    return {
      kind: 'registrations',
      send: (api) => {
        const headers = { 'content-type': 'application/json' };
        return api.call('POST', '/core/operations', { headers, body: JSON.stringify(items), expect: [202] });
      },
      apply: (ledger) => {
        for (const item of items) ledger.register(`${id} ${item.metric}`, item);
      },
    };
  }

  #patternRegistration() {
    const item = patternOf(this.name);
    return {
      kind: 'registrations of patterns',
      send: (api) => {
        const headers = { 'content-type': 'application/json' };
        return api.call('POST', '/core/operations', { headers, body: JSON.stringify([item]), expect: [202] });
      },
      apply: (ledger) => ledger.register(`${this.name}-zone-{n} ${item.metric}`, item),
    };
  }

  #itemEnd() {
    const names = [...this.ledger.items.keys()];
    if (names.length === 0) return undefined;
    const name = this.#random.pick(names);
    const [id, metric] = name.split(' ');
    return {
      kind: 'ends of items',
      send: async (api) => {
        const items = await readAll(api, '/core/operations');
        const found = items.find((item) => item.timeseriesId === id && item.metric === metric);
        if (found === undefined) throw new UnexpectedError(`the item of ${name} is not there`);
        return api.call('DELETE', `/core/operations/${found.itemId}`);
      },
      apply: (ledger) => ledger.end(name),
    };
  }

  #events() {
    const random = this.#random;
    const events = Array.from({ length: random.size(2) }, () => ({
      id: `${this.name}-${random.below(EVENT_COUNT)}`,
      name: `event ${random.below(1e6)}`,
      severity: random.pick(['High', 'Low']),
      occurredAt: new Date(timeOf(random.below(SLOT_COUNT))).toISOString(),
    }));
    // A body must not have an id twice.
    const own = [...new Map(events.map((event) => [event.id, event])).values()];
    const headers = { 'content-type': 'application/json', ercollectionid: this.access.collection };
    return {
      kind: 'events',
      send: (api) => api.call('POST', '/core/events', { headers, body: JSON.stringify(own), expect: [200, 201] }),
      apply: (ledger) => {
        for (const event of own) ledger.events.set(event.id, event);
      },
    };
  }

  #eventDeletion() {
    const ids = [...this.ledger.events.keys()];
    if (ids.length === 0) return undefined;
    const id = this.#random.pick(ids);
    return {
      kind: 'deletions of events',
      send: (api) => {
        const headers = { ercollectionid: this.access.collection };
        return api.call('DELETE', `/core/events/${id}`, { headers, expect: [204] });
      },
      apply: (ledger) => void ledger.events.delete(id),
    };
  }

  #token(url) {
    const name = this.#tokenCount++;
    let token;
    return {
      kind: 'tokens',
      send: async () => {
        token = await requestToken(url, this.access);
        return { isRefused: token === undefined };
      },
      apply: ({ tokens }) => {
        // If the answer is lost, nobody has the token.
        if (token !== undefined) tokens.set(name, { token, isGood: true });
        for (const oldest of tokens.keys()) if (tokens.size > TOKENS_MAX) tokens.delete(oldest);
      },
    };
  }

  #revocation(url) {
    const good = [...this.ledger.tokens].filter(([, { isGood }]) => isGood);
    if (good.length === 0) return undefined;
    const [name, { token }] = this.#random.pick(good);
    return {
      kind: 'revocations',
      token,
      send: () => revokeToken(url, this.access, token),
      apply: ({ tokens }) => void tokens.set(name, { token, isGood: false }),
    };
  }
}
