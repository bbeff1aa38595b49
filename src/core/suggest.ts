/**
 * The name among `names` that `text` was most likely meant to be, or undefined when none is near.
 * Near means at most a third of the length in edits (insert, delete, replace, swap neighbours), and at least one.
 */
export function nearestName(text: string, names: Iterable<string>): string | undefined {
  const wanted = text.toLowerCase();
  // Between equally near names prefer one with the same first letter: people rarely mistype that.
  const isAlike = (name: string | undefined): boolean => name === undefined || name[0]?.toLowerCase() === wanted[0];
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(wanted.length / 3)) + 1;
  for (const name of names) {
    const distance = editDistance(wanted, name.toLowerCase(), bestDistance + 1);
    const isNearer = distance < bestDistance || (distance === bestDistance && isAlike(name) && !isAlike(best));
    if (isNearer) {
      best = name;
      bestDistance = distance;
    }
  }
  return best;
}

/** What other tools call things, in lower case and letters alone, with their names here. */
export type OtherNames = Readonly<Record<string, string>>;

/** The name that other tools' `text` stands for, or the nearest one; undefined when none is near. */
export function meantName(text: string, names: readonly string[], otherNames: OtherNames = {}): string | undefined {
  const meant = otherNames[text.toLowerCase().replace(/[^a-z]/g, '')];
  return meant !== undefined && names.includes(meant) ? meant : nearestName(text, names);
}

/** "did you mean `Average`?", if one of the names is meant; undefined otherwise. */
export function didYouMean(text: string, names: readonly string[], otherNames?: OtherNames): string | undefined {
  const name = meantName(text, names, otherNames);
  return name && `did you mean \`${name}\`?`;
}

// Optimal string alignment (Damerau-Levenshtein without repeated edits of a part), three rows at a time.
function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) >= limit) return limit;
  let twoAbove: number[] = [];
  let above = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      let edits = Math.min((above[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (above[j - 1] ?? 0) + cost);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        edits = Math.min(edits, (twoAbove[j - 2] ?? 0) + 1);
      }
      row.push(edits);
    }
    twoAbove = above;
    above = row;
  }
  return above[b.length] ?? limit;
}
