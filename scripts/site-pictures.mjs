// Draws a picture of each operation for the site: samples before and after, as listed in scripts/site-examples.mjs.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { examples, signals } from './site-examples.mjs';

const rootPath = fileURLToPath(new URL('../', import.meta.url));
const MINUTE_MS = 60_000;
/** Samples further apart have a gap between them, which no line crosses. */
const INPUT_GAP_MINUTES = 65;

/**
 * Writes `operations/<name>.svg` for each operation and gives their places by the names of the operations.
 *
 * @param library what computes the results: `operations` of `windrow/inspect`, `createPlan` and `runBatch`.
 */
export async function drawOperations({ operations, createPlan, runBatch }, folder) {
  const drawSvg = await chartCode();
  mkdirSync(join(folder, 'operations'), { recursive: true });
  const pictures = new Map();
  for (const name of operations.keys()) {
    const example = examples[name];
    if (example === undefined) throw new Error(`scripts/site-examples.mjs has no picture of ${name}: add one`);
    const inputs = inputsOf(example);
    const { series } = runBatch(createPlan([requestOf(name, example)]), inputs);
    const place = `operations/${name.toLowerCase().replaceAll(' ', '-')}.svg`;
    const lines = [
      ...inputs.map((input) => lineOf(input, { gapMinutes: INPUT_GAP_MINUTES })),
      lineOf(series[0], example),
    ];
    if (example.isBelow) lines.reverse();
    writeFileSync(join(folder, place), drawSvg(lines, { width: 640, title: name }));
    pictures.set(name, { place, title: example.title, parameters: JSON.stringify(example.parameters) });
  }
  return pictures;
}

function inputsOf({ inputs }) {
  const names = inputs.length === 1 ? ['input'] : ['first input', 'second input', 'third input'];
  return inputs.map((signal, index) => ({ timeseriesId: names[index], metric: 'Raw', ...signals[signal] }));
}

function requestOf(operation, { inputs, parameters }) {
  const input = inputsOf({ inputs }).map(({ timeseriesId, metric }) => ({ timeseriesId, metric }));
  const output = [{ timeseriesId: 'result', metric: operation }];
  return { metric: operation, processingType: 'batch', operations: [{ operation, input, output, parameters }] };
}

/** A series as a line of a chart; the result of a window is drawn along the whole window. */
function lineOf(
  { timeseriesId, timeMs, value },
  { windowMinutes, gapMinutes = windowMinutes === undefined ? Infinity : 0 },
) {
  const points = [...timeMs].flatMap((time, i) =>
    Array.from({ length: windowMinutes ?? 1 }, (_, minute) => ({
      timeMs: time + minute * MINUTE_MS,
      value: value[i],
      isAfterGap: minute === 0 && time - timeMs[i - 1] > gapMinutes * MINUTE_MS,
    })),
  );
  return {
    name: timeseriesId,
    timeMs: Float64Array.from(points, (point) => point.timeMs),
    value: Float64Array.from(points, (point) => point.value),
    isAfterGap: Uint8Array.from(points, (point) => Number(point.isAfterGap)),
    sampleCount: timeMs.length,
    min: Math.min(...value),
    max: Math.max(...value),
    isBinary: value.every((number) => number === 0 || number === 1),
  };
}

// The chart code of `windrow plot`, bundled from the sources, as dist does not export it.
async function chartCode() {
  const { outputFiles } = await build({
    entryPoints: [join(rootPath, 'src/plot/index.ts')],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
    logLevel: 'error',
  });
  const code = await import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString('base64')}`);
  return code.drawSvg;
}
