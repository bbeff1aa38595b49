// The CSV door: windrow/csv.
export {};
