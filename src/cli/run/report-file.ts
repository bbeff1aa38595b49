import packageJson from '../../../package.json' with { type: 'json' };
import { type RunFacts, rowCountOf } from './summary.js';

/** The report of a run as JSON: what came in and out of every step, everything left out and why, and how fast. */
export function reportText({ plan, mode, outcome, sampleCounts, seconds }: RunFacts): string {
  const { report, files, unordered } = outcome;
  const rows = rowCountOf(outcome);
  const data = {
    version: packageJson.version,
    mode,
    timezone: plan.timezone,
    seconds: Number(seconds.toFixed(6)),
    rows,
    rowsPerSecond: Math.round(rows / Math.max(seconds, 1e-6)),
    isSortedInMemory: unordered !== undefined,
    files: files.map(({ path, layout, rows: taken, rejected, missing, series }) => ({
      path,
      layout,
      rows: taken + rejected,
      dropped: { rejected },
      missing,
      series,
    })),
    sources: report.sources,
    steps: report.steps,
    results: plan.items.map(({ output }, index) => ({ ...output, samples: sampleCounts[index] ?? 0 })),
  };
  return `${JSON.stringify(data, null, 2)}\n`;
}
