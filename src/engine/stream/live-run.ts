import { CheckpointError, InputError } from '../../core/errors.js';
import type { Plan } from '../../plan/plan.js';
import type { Progress } from '../checkpoint/stream-checkpoint.js';
import type { Graph } from '../graph/graph.js';
import type { RunSettings } from '../options.js';
import { createReport, type Report } from '../report.js';

/** The life cycle of a stream or a fleet: it takes calls until it is closed or one of them fails half way. */
export abstract class LiveRun {
  protected readonly plan: Plan;
  protected readonly settings: RunSettings;
  protected readonly graph: Graph;
  protected readonly progress: Progress;
  readonly #kind: 'stream' | 'fleet';
  readonly #startedMs: number;
  #failure: unknown;
  /** The final report, set once the run is closed and its graph serves others. */
  #lastReport: Report | undefined;

  constructor(kind: 'stream' | 'fleet', plan: Plan, settings: RunSettings, graph: Graph, progress: Progress) {
    this.#kind = kind;
    this.plan = plan;
    this.settings = settings;
    this.graph = graph;
    this.progress = progress;
    this.#startedMs = settings.clock();
  }

  report(): Report {
    const durationMs = this.settings.clock() - this.#startedMs;
    return this.#lastReport === undefined
      ? createReport(this.plan, this.graph, this.progress.unused, durationMs)
      : { ...this.#lastReport, durationMs };
  }

  protected assertUsable(): void {
    const kind = this.#kind;
    if (this.#lastReport !== undefined) {
      throw new InputError('stream.closed', `the ${kind} is closed; open another, or restore a checkpoint`);
    }
    if (this.#failure !== undefined) {
      const message = `the ${kind} has failed before; restore its last checkpoint`;
      throw new InputError('stream.closed', message, { cause: this.#failure });
    }
  }

  protected assertHasState(): void {
    if (this.#failure === undefined && this.#lastReport === undefined) return;
    const reason = this.#failure === undefined ? 'is closed' : 'has failed';
    throw new CheckpointError('stream.closed', `the ${this.#kind} ${reason}, so there is no state to keep`);
  }

  /**
   * Does the work of one call. If it fails, the run takes no more calls, as later results would be wrong.
   *
   * @param work a method of the run, called with `this` so that a call creates no closure.
   */
  protected call<T>(work: (given: T) => void, given: T): void {
    this.assertUsable();
    this.graph.resetLimit();
    try {
      work.call(this, given);
    } catch (error) {
      this.#failure = error;
      throw error;
    }
  }

  /** Does some work and then undoes what it changed in the graph. */
  protected callAside<T>(work: () => T): T {
    this.assertUsable();
    const putBack = snapshotOf(this.graph);
    this.graph.resetLimit();
    try {
      return work();
    } finally {
      putBack();
    }
  }

  /** Ends the run: it takes no more calls. @returns the final report. */
  protected end(): Report {
    this.#lastReport = this.report();
    return this.#lastReport;
  }
}

/**
 * Copies everything that a graph remembers between two calls.
 *
 * @returns a function that restores it, whatever has happened since, even a call that failed half way.
 */
function snapshotOf(graph: Graph): () => void {
  const keptCounts = graph.counts.map((counts) => ({ ...counts }));
  const kept = graph.states.map(({ slots, lists }) => ({
    slots: slots.slice(),
    lists: lists.map((list) => list.view().slice()),
  }));
  return () => {
    // After a failure, nodes may hold more than their states.
    graph.reset();
    for (const [i, counts] of graph.counts.entries()) Object.assign(counts, keptCounts[i]);
    for (const [i, { slots, lists }] of graph.states.entries()) {
      slots.set(kept[i]!.slots);
      for (const [k, list] of lists.entries()) list.append(kept[i]!.lists[k]!, 0, kept[i]!.lists[k]!.length);
    }
  };
}

export function newProgress(): Progress {
  return { advancedMs: Number.NEGATIVE_INFINITY, unused: 0 };
}
