import fc from 'fast-check';

// Property tests draw new cases at each run. FAST_CHECK_SEED draws those of one seed again: CI sets it, so that a red
// run tells of the change and not of luck, and `npm run test:seeds` goes on through many.

const seed = process.env.FAST_CHECK_SEED;
if (seed !== undefined) fc.configureGlobal({ seed: Number(seed) });
