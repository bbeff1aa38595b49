import { type Arena, currentArena } from '../../kernels/arena.js';
import type { Plan } from '../../plan/plan.js';
import type { RunSettings } from '../options.js';
import type { Graph } from './graph.js';

/**
 * Graphs (with whatever belongs to them), kept with their plan between runs. Building a graph is cheap, but V8 ties
 * compiled code to its objects: with a new graph for each run, the code would be compiled again after every garbage
 * collection.
 */
export class GraphCache<WiredPlan extends { readonly graph: Graph }> {
  /** By the arena of the graph's columns. */
  readonly #kept = new WeakMap<Arena, WeakMap<Plan, { readonly wired: WiredPlan; readonly key: string }>>();

  /** Takes a graph out of the cache if one was built for these settings. It is as good as new. */
  take(plan: Plan, settings: RunSettings): WiredPlan | undefined {
    const here = this.#kept.get(currentArena());
    const kept = here?.get(plan);
    here?.delete(plan);
    return kept?.key === keyOf(settings) ? kept.wired : undefined;
  }

  /** Resets a graph that has finished and keeps it. One that failed half way must not be kept. */
  keep(plan: Plan, settings: RunSettings, wired: WiredPlan): void {
    wired.graph.reset();
    const arena = currentArena();
    const here = this.#kept.get(arena) ?? new WeakMap();
    this.#kept.set(arena, here);
    here.set(plan, { wired, key: keyOf(settings) });
  }
}

// The settings that a graph is built with.
function keyOf({ fromMs, warmUntilMs, untilMs, maxOutputSamples, allowedLatenessMs }: RunSettings): string {
  return [fromMs, warmUntilMs, untilMs, maxOutputSamples, allowedLatenessMs].join();
}
