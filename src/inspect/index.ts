// What is exported as `windrow/inspect`: to look at results, and to trust them.
export {
  type GivenSample,
  type LeftOut,
  type Sample,
  type Why,
  type WhyInput,
  type WhySource,
  type WhyStep,
  why,
} from './why.js';
