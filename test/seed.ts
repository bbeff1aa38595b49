import fc from 'fast-check';

// Property tests draw new cases at each run. FAST_CHECK_SEED repeats the cases of one seed: CI sets it, so that a
// failure there comes from the change and not from chance; `npm run test:seeds` tries one seed after another.

const seed = process.env.FAST_CHECK_SEED;
if (seed !== undefined) fc.configureGlobal({ seed: Number(seed) });
