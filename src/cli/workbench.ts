import type { WorkbenchFiles } from '../service/http/workbench.js';
import { type Command, requiredOf } from './command.js';
import { EXIT_DONE, fileFailure } from './failure.js';
import { openTarget } from './files/target.js';
import { withTempFiles } from './files/temp-files.js';
import type { FileSystem } from './terminal/io.js';

// Built from src/workbench, beside the command's own files.
const PAGE = new URL('../../dist/workbench.html', import.meta.url);
const FORMAT_READERS = new URL('../../dist/workbench-formats.js', import.meta.url);

export const workbench: Command = {
  name: 'workbench',
  summary: 'Write the workbench: a page to build pipelines over files of series, offline, in any browser.',
  options: [{ flag: '--output', value: 'FILE.html', summary: 'the file to write (`-` for standard output)' }],
  notes: [
    'The page is one file: open it in a browser, and send it to whom you like. Data that is dropped on it stays ' +
      'in the browser. `windrow serve` has the same page at its root, connected to the service.',
  ],
  examples: [
    { line: 'windrow workbench --output workbench.html', does: 'write the page; then open it' },
    { line: 'windrow workbench --output - > workbench.html', does: 'the same, for a script' },
  ],
  act: async (given, io) => {
    const output = requiredOf(given, workbench, '--output');
    return withTempFiles(io, async (temps) => {
      const target = await openTarget(output, io, temps);
      await target.write(new TextEncoder().encode(singleFile(readWorkbench(io.fs))));
      target.keep();
      return EXIT_DONE;
    });
  },
};

/** The page, and the script with its readers of formats other than CSV. */
export function readWorkbench(fs: FileSystem): WorkbenchFiles {
  try {
    return { html: fs.readFileSync(PAGE, 'utf8'), formatReaders: fs.readFileSync(FORMAT_READERS, 'utf8') };
  } catch (error) {
    throw fileFailure(error, 'the page of the workbench (npm run build makes it)', 'read');
  }
}

// Offline there is nothing to load from: the reader stands in the page as text, which the page's policy lets nobody run
// but the worker that is made of it.
function singleFile({ html, formatReaders }: WorkbenchFiles): string {
  return html.replace(
    '</body>',
    () => `<script type="text/plain" id="format-readers">${formatReaders}</script>\n</body>`,
  );
}
