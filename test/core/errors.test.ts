import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

// The published library has shortened class names, so `new.target.name` would mean nothing there.

test.each(['src/core/errors.ts', 'src/formats/csv/errors.ts'])(
  'every class of error spells out its own name: %s',
  (path) => {
    const classes = readFileSync(path, 'utf8')
      .split(/^export class /m)
      .slice(1);
    const subclasses = classes.filter((text) => / extends WindrowError/.test(text));
    expect(subclasses.length).toBeGreaterThan(0);
    for (const text of subclasses) {
      const name = /^\w+/.exec(text)?.[0];
      expect(text).toContain(`\n  override readonly name = '${name}';\n`);
    }
  },
);
