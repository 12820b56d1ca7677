/**
 * The candidate that a misspelt name probably means.
 *
 * @returns the nearest candidate by edit distance, or undefined if none is
 * close enough.
 */
export function nearest(name: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined;
  let bestDistance = Math.max(2, Math.floor(name.length / 3)) + 1;
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - name.length) >= bestDistance) continue;
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase());
    // A name in which every character differs is not a misspelling.
    const most = Math.max(name.length, candidate.length, 1);
    if (distance < bestDistance && distance < most) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/**
 * A phrase for the end of a message about a name that is not known.
 *
 * @param name the name, as it was written
 * @param candidates the names that exist
 * @returns `; did you mean "view"?`, or empty text if none is close enough
 *
 * @example
 * ```ts
 * const types = ["document", "folder"];
 * console.error(`there is no type docment${didYouMean("docment", types)}`);
 * ```
 */
export function didYouMean(name: string, candidates: Iterable<string>): string {
  const candidate = nearest(name, candidates);
  return candidate === undefined ? "" : `; did you mean "${candidate}"?`;
}

/** The Damerau-Levenshtein distance, which counts a swap of neighbours once. */
function editDistance(left: string, right: string): number {
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let i = 1; i <= left.length; i++) {
    const current = [i];
    for (let j = 1; j <= right.length; j++) {
      const substitution = left[i - 1] === right[j - 1] ? 0 : 1;
      let distance = Math.min(
        (previous[j] ?? 0) + 1,
        (current[j - 1] ?? 0) + 1,
        (previous[j - 1] ?? 0) + substitution,
      );
      if (i > 1 && j > 1 && left[i - 1] === right[j - 2] && left[i - 2] === right[j - 1]) {
        distance = Math.min(distance, (beforePrevious[j - 2] ?? 0) + 1);
      }
      current.push(distance);
    }
    beforePrevious = previous;
    previous = current;
  }
  return previous[right.length] ?? 0;
}
