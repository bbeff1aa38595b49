import { type Command, requiredOf } from './command.js';
import { EXIT_DONE, fileFailure } from './failure.js';
import { openTarget } from './files/target.js';
import { withTempFiles } from './files/temp-files.js';
import type { FileSystem } from './terminal/io.js';

// Built from src/workbench, beside the command's own files.
const PAGE = new URL('../../dist/workbench.html', import.meta.url);

export const workbench: Command = {
  name: 'workbench',
  summary: 'Write the workbench: a page to build pipelines by hand over CSV files, offline, in any browser.',
  options: [{ flag: '--output', value: 'FILE.html', summary: 'the file to write (`-` for standard output)' }],
  notes: [
    'The page is one file: open it in a browser, and send it to whom you like. Data that is dropped on it stays ' +
      ' in the browser. `windrow serve` has the same page at its root, connected to the service.',
  ],
  examples: [
    { line: 'windrow workbench --output workbench.html', does: 'write the page; then open it' },
    { line: 'windrow workbench --output - > workbench.html', does: 'the same, for a script' },
  ],
  act: async (given, io) => {
    const output = requiredOf(given, workbench, '--output');
    return withTempFiles(io, async (temps) => {
      const target = openTarget(output, io, temps);
      await target.write(new TextEncoder().encode(readWorkbench(io.fs)));
      target.keep();
      return EXIT_DONE;
    });
  },
};

/** The page as HTML. */
export function readWorkbench(fs: FileSystem): string {
  try {
    return fs.readFileSync(PAGE, 'utf8');
  } catch (error) {
    throw fileFailure(error, 'the page of the workbench (npm run build makes it)', 'read');
  }
}
