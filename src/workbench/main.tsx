import { render } from 'preact';
import { App } from './app.js';
import { startEngine } from './engine/client.js';
import { serveEngine } from './engine/worker.js';

// One script is both the page and the worker, which the page starts from its own text. So the page is one file, and its
// policy allows one script.
if (typeof document === 'undefined') {
  // In a worker the global scope has what `WorkerScope` says.
  serveEngine(globalThis as unknown as Parameters<typeof serveEngine>[0]);
} else {
  const place = document.getElementById('app');
  const script = document.currentScript?.textContent;
  if (place === null || script == null) throw new Error('assertion failed: the page has no script of its own');
  render(<App engine={startEngine(script)} />, place);
}
