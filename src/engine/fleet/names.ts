/** The names of a fleet's members, whose numbers count from 0 in the order of joining. */
export interface Names {
  readonly numberOf: (timeseriesId: string) => number | undefined;
  readonly of: (member: number) => string;
  readonly add: (timeseriesId: string) => void;
}

export function createNames(): Names {
  const numbers = new Map<string, number>();
  const names: string[] = [];
  return {
    numberOf: (timeseriesId) => numbers.get(timeseriesId),
    of: (member) => names[member]!,
    add: (timeseriesId) => {
      numbers.set(timeseriesId, names.length);
      names.push(timeseriesId);
    },
  };
}
