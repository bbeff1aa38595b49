// What is exported as `windrow/every`: plans whose ids are patterns, run for every series that matches.

export { filledRequest, membersOf, planEvery } from '../../plan/patterns.js';
export { openEvery, restoreEvery } from './every-stream.js';
export { runEvery } from './run-every.js';
