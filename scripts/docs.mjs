// Writes the generated pages of docs/: operations.md and errors.md. Needs dist, which `npm run docs` builds.
//
//   node scripts/docs.mjs

import { writeFileSync } from 'node:fs';
import { errorCodes } from '../dist/index.js';
import { operations } from '../dist/inspect.js';
import { renderPages } from './render-docs.mjs';

for (const [name, text] of Object.entries(renderPages(operations, errorCodes))) {
  writeFileSync(new URL(`../docs/${name}`, import.meta.url), text);
  console.error(`docs/${name}: ${text.split('\n').length - 1} lines`);
}
