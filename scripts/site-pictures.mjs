// A picture of each operation for the site: the samples of its longest worked example, before and after.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const rootPath = fileURLToPath(new URL('../', import.meta.url));

/** Writes `operations/<name>.svg` for each operation and gives their places by the names of the operations. */
export async function drawOperations(operations, folder) {
  const { createChartData, drawSvg } = await chartCode();
  mkdirSync(join(folder, 'operations'), { recursive: true });
  const pictures = new Map();
  for (const { name, examples } of operations.values()) {
    const example = examples.reduce((most, one) => (sizeOf(one) > sizeOf(most) ? one : most));
    const place = `operations/${name.toLowerCase().replaceAll(' ', '-')}.svg`;
    const data = createChartData();
    data.add(seriesOf(example));
    writeFileSync(join(folder, place), drawSvg(data.lines(), { width: 640, title: `${name}, before and after` }));
    pictures.set(name, { place, title: example.title, parameters: JSON.stringify(example.parameters) });
  }
  return pictures;
}

const sizeOf = ({ inputs, output }) => Math.min(...inputs.map(({ length }) => length), output.length);

function seriesOf({ inputs, output }) {
  const column = (timeseriesId, samples) => ({
    timeseriesId,
    metric: timeseriesId === 'result' ? 'after' : 'before',
    timeMs: Float64Array.from(samples, ([time]) => Date.parse(time.includes('T') ? time : `2024-03-01T${time}Z`)),
    value: Float64Array.from(samples, ([, value]) => value ?? Number.NaN),
  });
  const names = inputs.length === 1 ? ['input'] : ['first input', 'second input'];
  return [...inputs.map((samples, index) => column(names[index], samples)), column('result', output)];
}

// The charts of `windrow plot`, from the sources, as dist does not export them.
async function chartCode() {
  const { outputFiles } = await build({
    entryPoints: [join(rootPath, 'src/plot/index.ts')],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
    logLevel: 'error',
  });
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString('base64')}`);
}
