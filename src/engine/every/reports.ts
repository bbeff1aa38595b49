import type { Plan } from '../../plan/plan.js';
import type { Report, SourceReport, StepReport } from '../report.js';
import type { Part } from './parts.js';

/** One part of a plan and its report; both undefined if the plan has no such part. */
export interface PartReport {
  readonly part: Part | undefined;
  readonly report: Report | undefined;
}

/** The report of a whole plan. A step or source that is in both parts is reported as the first counted it. */
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

/** The sum of two reports of one plan, in which sources that all members share are counted once. */
export function addReports(a: Report, b: Report, isShared: readonly boolean[]): Report {
  return {
    sources: a.sources.map((source, index) => (isShared[index] === true ? source : sum(source, b.sources[index]!))),
    steps: sum(a.steps, b.steps),
    unused: a.unused + b.unused,
    durationMs: a.durationMs + b.durationMs,
  };
}

/** Adds two objects of one shape: numbers are added, everything else is taken from the first. */
function sum<Data>(a: Data, b: Data): Data {
  const add = (x: unknown, y: unknown): unknown => {
    if (typeof x === 'number' && typeof y === 'number') return x + y;
    if (x === null || typeof x !== 'object') return x;
    const entries = Object.entries(x).map(([name, part]) => [name, add(part, Object(y)[name])] as const);
    return Array.isArray(x) ? entries.map(([, part]) => part) : Object.fromEntries(entries);
  };
  // `as`: the sum has the shape of `a`.
  return add(a, b) as Data;
}
