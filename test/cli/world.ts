// Where tests run the command: a folder of its own, and streams that record what is written to them.
import * as nodeFs from 'node:fs';
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { main } from '../../src/cli/command-line.js';
import { commands } from '../../src/cli/commands.js';
import type { FileSystem, Interrupt, Io } from '../../src/cli/terminal/io.js';
import { RangePool } from '../../src/formats/csv/threaded/pool.js';

export interface WorldOptions {
  readonly stdin?: AsyncIterable<Uint8Array> | string;
  /** Replaces functions of `node:fs`. */
  readonly fs?: Partial<FileSystem> | undefined;
  /** Empty by default. */
  readonly environment?: Io['environment'];
  /** 0 by default. */
  readonly clock?: () => number;
  /** Called before each write to standard output; may throw. */
  readonly onStdout?: (data: string | Uint8Array) => void;
}

export interface Ended {
  readonly code: number;
  readonly stdout: string;
  /** Paths in the world's folder appear as `~/…`. */
  readonly stderr: string;
}

export interface World {
  readonly folder: string;
  readonly path: (name: string) => string;
  readonly write: (name: string, content: string | Uint8Array) => string;
  readonly read: (name: string) => string;
  /** The files in the folder, including hidden ones. */
  readonly files: () => string[];
  /** Runs `windrow` with these arguments; `~/` at the start of one stands for the folder. */
  readonly run: (...words: string[]) => Promise<Ended>;
  readonly interrupt: (signal: Interrupt) => void;
}

export function createWorld(options: WorldOptions = {}): World {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'windrow-test-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const listeners = new Set<(signal: Interrupt) => void>();
  const path = (name: string): string => join(folder, name);

  async function run(...words: string[]): Promise<Ended> {
    let stdout = '';
    let stderr = '';
    const decoder = new TextDecoder();
    const io: Io = {
      stdin: () => ({ bytes: bytesOf(options.stdin ?? ''), fileDescriptor: undefined, isTerminal: false }),
      stdout: {
        write: async (data) => {
          options.onStdout?.(data);
          stdout += typeof data === 'string' ? data : decoder.decode(data, { stream: true });
        },
        isTerminal: false,
        columns: 80,
      },
      stderr: {
        write: async (data) => {
          stderr += String(data);
        },
        isTerminal: false,
        columns: 80,
      },
      fs: { ...nodeFs, ...options.fs },
      tempFolder: folder,
      environment: options.environment ?? {},
      clock: options.clock ?? (() => 0),
      threads: { usual: 1, bytesEach: 1, rangeBytes: 64, open: openTestPool },
      onInterrupt: (listener) => {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    };
    const code = await main(
      words.map((word) => word.replace(/(?<=^|=)~\//, `${folder}/`)),
      io,
      commands,
    );
    return { code, stdout, stderr: stderr.replaceAll(`${folder}/`, '~/') };
  }

  return {
    folder,
    path,
    write: (name, content) => {
      writeFileSync(path(name), content);
      return path(name);
    },
    read: (name) => readFileSync(path(name), 'utf8'),
    files: () => readdirSync(folder).sort(),
    run,
    interrupt: (signal) => {
      for (const listener of listeners) listener(signal);
    },
  };
}

/** Threads that run the built code. */
export function openTestPool(threads: number): Promise<RangePool> {
  return RangePool.open(new URL('../../dist/cli/csv-worker.js', import.meta.url), threads);
}

async function* bytesOf(source: AsyncIterable<Uint8Array> | string): AsyncIterable<Uint8Array> {
  if (typeof source === 'string') yield new TextEncoder().encode(source);
  else yield* source;
}

/** A request of one step over the series `office`. */
export function requestText(operation: string, parameters: object, metric = 'Result'): string {
  const input = [{ timeseriesId: 'office', metric: 'Raw' }];
  const output = [{ timeseriesId: 'office', metric }];
  return JSON.stringify([{ metric, processingType: 'batch', operations: [{ operation, input, output, parameters }] }]);
}

/** A CSV of the single layout: one sample a minute from 2024-03-01. */
export function minutesCsv(values: readonly (number | string)[]): string {
  const rows = values.map((value, minute) => `${new Date(Date.UTC(2024, 2, 1, 0, minute)).toISOString()},${value}\n`);
  return `timestamp,value\n${rows.join('')}`;
}
