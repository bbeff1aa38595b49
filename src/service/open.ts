import type { FastifyBaseLogger } from 'fastify';
import { describeValue } from '../core/errors.js';
import { prepareDataDirectory } from '../storage/data-directory.js';
import { type OnDatabaseTime, OpeningStorage, openStorage, type Waiting } from '../storage/index.js';
import { isAddress } from '../storage/postgres/address.js';
import { createSampleStore } from '../storage/samples/store.js';
import type { Storage } from '../storage/storage.js';
import type { Clock, Random, Scheduler, ServiceContext } from './context.js';
import { createMetrics } from './http/metrics.js';
import { countErrors, watchDisk, watchStore } from './http/store-metrics.js';
import type { PasswordCost } from './identity/passwords.js';
import { Placements } from './placements.js';
import { createService, type Service } from './service.js';
import { checkSettings, defaultSettings, type ServiceSettings } from './settings.js';
import { StoreClock } from './store-clock.js';
import { openStoreThreads } from './store-thread/store-thread.js';
import { systemClock, systemRandom, systemScheduler } from './system.js';

/** How to open a service. Clock, randomness and timers default to the machine's. */
export interface ServiceOptions {
  /** The folder of the embedded database; created if missing. */
  readonly dataDirectory?: string;
  /** Or the address of a PostgreSQL database, `postgres://…`, which any number of processes may share. */
  readonly store?: string;
  /** Or an open store, which `close` leaves open. */
  readonly storage?: Storage;
  readonly settings?: Partial<ServiceSettings>;
  readonly clock?: Clock;
  readonly random?: Random;
  readonly scheduler?: Scheduler;
  /** The scrypt cost of new password hashes. */
  readonly passwordCost?: PasswordCost;
}

/** A service with its store. `close` stops both. */
export interface OwnService extends Service {
  close(): Promise<void>;
}

/**
 * Creates a service whose store may not be open yet. Until `opened` resolves its requests are answered with 503; it is
 * to be closed if `opened` rejects.
 */
export function createOpeningService(
  options: ServiceOptions,
  log: FastifyBaseLogger,
): OwnService & { readonly opened: Promise<void> } {
  const { random = systemRandom, scheduler = systemScheduler } = options;
  checkSettings(options.settings ?? {});
  const misplaced = Object.keys(options).find((name) => Object.hasOwn(defaultSettings, name));
  if (misplaced !== undefined) throw new TypeError(`${misplaced}: expected it among the settings: { ${misplaced}: … }`);
  const place = placeOf(options);
  const settings = Object.freeze({ ...defaultSettings, ...options.settings });
  const storeClock = new StoreClock(systemClock, (aheadMs) => log.warn({ aheadMs }, OTHER_TIME));
  // A clock that is given is right.
  const clock = options.clock ?? storeClock;
  const onDatabaseTime: OnDatabaseTime = (...time) => storeClock.compare(...time);
  const opening =
    'storage' in place
      ? place.storage
      : new OpeningStorage(
          (waiting) => openOwnStorage(place, settings, clock, { ...waiting, onDatabaseTime }),
          ({ message }) => log.warn({ reason: message }, 'waiting for the store'),
        );
  const metrics = createMetrics();
  const storage = countErrors(opening, metrics);
  watchStore(metrics, storage, clock, scheduler);
  const file = 'directory' in place ? place.directory : undefined;
  if (file !== undefined) watchDisk(metrics, file);
  const threads = file === undefined || settings.workerCount < 1 ? undefined : openStoreThreads(file, scheduler);
  const context: ServiceContext = Object.freeze({
    storage,
    placements: new Placements(storage),
    samples: createSampleStore({ clock }),
    prepareMove: threads?.prepareMove,
    searchEvents: threads?.searchEvents,
    clock,
    random,
    scheduler,
    log,
    metrics,
    settings,
  });
  storage.onCommit(() => metrics.commits.inc());
  const service = createService(context, options.passwordCost);
  return {
    ...service,
    opened: opening instanceof OpeningStorage ? opening.opened : Promise.resolve(),
    close: async () => {
      await service.stop();
      await threads?.close();
      if (!('storage' in place)) await storage.close();
    },
  };
}

const OTHER_TIME = 'the time is taken from the database; aheadMs is how far the clock of this machine is ahead of it';

/** Where the store is. */
type Place = { readonly storage: Storage } | OwnPlace;
type OwnPlace = { readonly address: string } | { readonly directory: string };

/** @throws TypeError unless the options say it, once. */
function placeOf({ storage, dataDirectory, store }: ServiceOptions): Place {
  if (storage !== undefined) return { storage };
  if (store !== undefined && typeof store !== 'string') {
    throw new TypeError(`store: expected the address of a database, received ${describeValue(store)}`);
  }
  if (store !== undefined && store !== '') {
    if (dataDirectory !== undefined) throw new TypeError('expected dataDirectory or store, received both');
    return { address: store };
  }
  if (typeof dataDirectory !== 'string' || dataDirectory === '') {
    throw new TypeError('expected dataDirectory, store, or a storage of your own; received none of them');
  }
  if (isAddress(dataDirectory)) {
    throw new TypeError('dataDirectory: expected a folder, received the address of a database; give it as store');
  }
  return { directory: dataDirectory };
}

async function openOwnStorage(
  place: OwnPlace,
  { storeWaitMsMax }: ServiceSettings,
  clock: Clock,
  ofDatabase: Waiting & { readonly onDatabaseTime: OnDatabaseTime },
): Promise<Storage> {
  if ('address' in place) return openStorage({ ...place, clock, waitMsMax: storeWaitMsMax, ...ofDatabase });
  prepareDataDirectory(place.directory);
  return openStorage({ ...place, clock });
}
