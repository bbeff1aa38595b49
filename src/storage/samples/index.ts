export { createCompactor } from './compactor.js';
export { createSampleStore } from './store.js';
