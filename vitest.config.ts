import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { findPostgres } from './scripts/cluster/postgres-server.mjs';

const overPostgres =
  findPostgres() === undefined
    ? []
    : process.env.WINDROW_POSTGRES === 'all'
      ? [
          'test/service/events/{list-events,snapshot,write-events}.test.ts',
          'test/service/operations/{chains,exactly-once,members,registering,requests,retention,worker}.test.ts',
          'test/service/status/status.test.ts',
          'test/service/timeseries/{follow,samples}.test.ts',
          'test/service/token/password.test.ts',
          'test/service/{authorize,health,throttle}.test.ts',
        ]
      : // What takes a minute; the rest, and the properties in full, by WINDROW_POSTGRES=all.
        [
          'test/service/operations/requests.test.ts',
          'test/service/timeseries/samples.test.ts',
          'test/service/health.test.ts',
        ];

// Files share their modules, as to load them for each file took a third of the time. A mock would come too late for
// modules that another file has loaded, so files with one stand apart (test/house/mocks.ts).
const mocking = ['test/laws/short-chunks/*.test.ts'];

// Rules of the code, and docs that are true: checks of the tree, beside types and lint, and not part of `npm test`.
const checks = ['test/house.test.ts', 'test/docs/*.test.ts'];

/**
 * Most code of a test runs for a second or two, and a third of the processor time of property tests went into optimizing
 * it. In Node 20 a function is optimized after this much bytecode, seven times as much as usual; later versions have a
 * cheaper compiler in between, and no such option. The collector has one thread, as other tests use the other cores, and
 * as property tests make little that stays, it collects less often with more room.
 */
const execArgv = [
  ...(process.versions.node.startsWith('20.') ? ['--interrupt-budget=500000'] : []),
  '--single-threaded-gc',
  '--min-semi-space-size=32',
  '--max-semi-space-size=64',
];

// Some seconds or more each. Where no earlier run has told so, Vitest takes large files first, and these are not large:
// begun last, they left workers idle.
const long = [
  'test/cli/threads.test.ts',
  'test/formats/csv/paths.test.ts',
  'test/formats/csv/writer.test.ts',
  'test/laws/operations.test.ts',
  'test/laws/oracle.test.ts',
  'test/laws/warmup.test.ts',
  'test/service/cluster.test.ts',
  'test/service/heap.test.ts',
  'test/service/kill.test.ts',
  'test/service/serve-process.test.ts',
  'test/storage/crash/ended-in-sqlite.test.ts',
  'test/storage/postgres/postgres.test.ts',
  'test/storage/postgres/processes.test.ts',
  'test/storage/samples/store-is-map.test.ts',
  'test/storage/unreadable.test.ts',
  'test/workbench/failure.test.ts',
];

/** Vitest runs projects by name, and the files of `mocking` are few and long: last, they left three workers idle. */
class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ project, moduleId }: TestSpecification): number => {
      if (project.name !== 'embedded') return 0;
      return long.some((path) => moduleId.endsWith(path)) ? 1 : 2;
    };
    // Stable: of one rank, the order stays.
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}

export default defineConfig({
  test: {
    sequence: { sequencer: LongFirst },
    projects: [
      { extends: true, test: { name: 'embedded', include: ['test/**/*.test.ts'], exclude: [...mocking, ...checks] } },
      { extends: true, test: { name: 'checks', include: checks } },
      { extends: true, test: { name: 'mocking', include: mocking, isolate: true } },
      // What the service does with its store, once more over PostgreSQL; without one, these tests are left out.
      {
        extends: true,
        test: {
          name: 'postgres',
          include: overPostgres,
          env: { WINDROW_TEST_STORE: 'postgres', WINDROW_RUNS: process.env.WINDROW_RUNS ?? '10' },
        },
      },
    ],
    globalSetup: ['scripts/build-kernels.mjs', 'test/storage/postgres/server.ts'],
    setupFiles: ['test/seed.ts', 'test/equality.ts'],
    // Commands that tests run leave nothing in the home of who tests.
    env: { NODE_DISABLE_COMPILE_CACHE: '1' },
    isolate: false,
    // A module is transformed once for all projects, and not again by the next run.
    experimental: { fsModuleCache: true },
    execArgv,
    // No test is about time: these end what would never end. Property tests run thousands of cases, and a laptop or a
    // CI machine may be busy. A poll gives up first, and says what it waited for.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 120_000 } },
    // Two more than the cores that we count on: tests that start servers wait more than they compute. Three took a
    // tenth longer.
    maxWorkers: 4,
    coverage: {
      provider: 'v8',
      include: ['src/**/*.ts'],
      exclude: ['src/kernels/assembly/**', 'src/kernels/module.ts', 'src/kernels/{scan,json}-module.ts'],
      reporter: ['text-summary', 'html'],
    },
  },
});
