import { type Arena, currentArena } from '../../kernels/arena.js';
import type { Plan } from '../../plan/plan.js';
import type { RunSettings } from '../options.js';
import type { Graph } from './graph.js';

/**
 * Graphs, kept with their plan between runs. To build one is little work, but the compiled code of its functions is
 * tied to it: with a new graph for each run, every garbage collection would have it compiled again.
 */
export class GraphCache<Machine extends { readonly graph: Graph }> {
  /** By the arena of the graph's columns. */
  readonly #kept = new WeakMap<Arena, WeakMap<Plan, { readonly machine: Machine; readonly key: string }>>();

  /** A machine as if newly built for these settings, if one is kept; nobody else has it then. */
  take(plan: Plan, settings: RunSettings): Machine | undefined {
    const here = this.#kept.get(currentArena());
    const kept = here?.get(plan);
    here?.delete(plan);
    return kept?.key === keyOf(settings) ? kept.machine : undefined;
  }

  /** Sets a machine that has come to its end back to its start. One that failed half way is not to be kept. */
  keep(plan: Plan, settings: RunSettings, machine: Machine): void {
    machine.graph.reset();
    const arena = currentArena();
    const here = this.#kept.get(arena) ?? new WeakMap();
    this.#kept.set(arena, here);
    here.set(plan, { machine, key: keyOf(settings) });
  }
}

// All that a graph is built with.
function keyOf({ fromMs, untilMs, maxOutputSamples, allowedLatenessMs }: RunSettings): string {
  return [fromMs, untilMs, maxOutputSamples, allowedLatenessMs].join();
}
