import type { Plan } from '../../plan/plan.js';
import type { Report, SourceReport, StepReport } from '../report.js';
import type { Part } from './parts.js';

/** A report of some items of a plan: undefined where there are none. */
export interface PartReport {
  readonly part: Part | undefined;
  readonly report: Report | undefined;
}

/** The report of a whole plan: of a step or a source that both parts have, what the first counted. */
export function joinReports(plan: Plan, parts: readonly PartReport[], unused: number, durationMs: number): Report {
  const sources: SourceReport[] = [];
  const steps: StepReport[] = [];
  for (const { part, report } of parts) {
    for (const [place, source] of (part?.sources ?? []).entries()) sources[source] ??= report!.sources[place]!;
    for (const [place, step] of (part?.steps ?? []).entries()) steps[step] ??= report!.steps[place]!;
  }
  if (sources.length !== plan.sources.length) throw new Error('assertion failed: a source is in no part');
  return { sources, steps, unused, durationMs };
}

/** Two reports of one plan, added up; of sources that all members share the first is kept. */
export function addReports(a: Report, b: Report, isShared: readonly boolean[]): Report {
  return {
    sources: a.sources.map((source, index) => (isShared[index] === true ? source : sum(source, b.sources[index]!))),
    steps: sum(a.steps, b.steps),
    unused: a.unused + b.unused,
    durationMs: a.durationMs + b.durationMs,
  };
}

/** Data of one shape: numbers are added, all else is the same. */
function sum<Data>(a: Data, b: Data): Data {
  const add = (x: unknown, y: unknown): unknown => {
    if (typeof x === 'number' && typeof y === 'number') return x + y;
    if (x === null || typeof x !== 'object') return x;
    const entries = Object.entries(x).map(([name, part]) => [name, add(part, Object(y)[name])] as const);
    return Array.isArray(x) ? entries.map(([, part]) => part) : Object.fromEntries(entries);
  };
  // Its parts are those of `a`.
  return add(a, b) as Data;
}
