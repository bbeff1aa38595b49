import { argumentsWrong } from './failure.js';
