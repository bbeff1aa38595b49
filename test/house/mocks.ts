import { filesUnder, type Law } from './law.js';

/** The one vitest project (see vitest.config.ts) that loads modules anew for each file. */
const ISOLATED = /^test\/laws\/short-chunks\//;

export const mocksStandApart: Law = {
  title: 'files of tests that mock a module stand in test/laws/short-chunks',
  fix: 'Files of tests share their modules, so a mock may come too late: hand the part in, or move the file there.',
  breaches: (files) =>
    filesUnder(files, 'test')
      .filter(
        ({ path, text }) => path.endsWith('.test.ts') && /^\s*vi\.(do)?mock\(/im.test(text) && !ISOLATED.test(path),
      )
      .map(({ path }) => `${path} mocks a module`),
};
