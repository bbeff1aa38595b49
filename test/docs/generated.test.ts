import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { renderPages } from '../../scripts/render-docs.mjs';
import { errorCodes } from '../../src/index.js';
import { operations } from '../../src/inspect/index.js';

describe('generated pages are up to date', () => {
  const pages = renderPages(operations, errorCodes);

  test.each(Object.entries(pages))('docs/%s', (name, text) => {
    const written = readFileSync(new URL(`../../docs/${name}`, import.meta.url), 'utf8');
    expect(written, `docs/${name} is stale: run \`npm run docs\`, and commit what it writes`).toBe(text);
  });

  test('every operation has its section, with all its parameters and examples', () => {
    const sections = pages['operations.md']!.split(/^(?=## )/m);
    for (const { name, parameters, examples } of operations.values()) {
      const section = sections.find((text) => text.startsWith(`## ${name}\n`)) ?? '';
      for (const parameter of Object.keys(parameters.properties as object)) {
        expect(section).toContain(`| \`${parameter}\``);
      }
      for (const { title } of examples) expect(section).toContain(`**${title}**`);
    }
  });

  test('every error code has its line', () => {
    for (const [code, meaning] of Object.entries(errorCodes)) {
      expect(pages['errors.md']).toContain(`| \`${code}\` | ${meaning} |`);
    }
  });
});
