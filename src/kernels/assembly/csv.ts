// The parsers of CSV rows.

export { pairsEnd, scanPairs } from './csv-pairs';
export { fieldsEnd, missingCount, scanFields } from './csv-fields';
export { addName, clearNames } from './csv-names';
