import type { Steps } from "../graph/turns.ts";

/** How many items are sorted at once, before a pause is possible. */
const RUN = 4096;

/** Less than 0 if the left one comes first, as `Array.sort` has it. */
export type Compare = (left: number, right: number) => number;

/**
 * Sorts numbers. A million of them take more than half a second, in which other calls are answered.
 *
 * @returns the array, or another one of the same length
 */
export function* sortInTurns(numbers: Uint32Array, compare: Compare): Steps<Uint32Array> {
  const count = numbers.length;
  for (let begin = 0; begin < count; begin += RUN) {
    numbers.subarray(begin, begin + RUN).sort(compare);
    if (count > RUN) yield;
  }
  let sorted: Uint32Array = numbers;
  let merged: Uint32Array = new Uint32Array(count > RUN ? count : 0);
  for (let run = RUN; run < count; run *= 2) {
    for (let begin = 0; begin < count; begin += 2 * run) {
      const middle = Math.min(begin + run, count);
      yield* merge(sorted, merged, begin, middle, Math.min(middle + run, count), compare);
    }
    [sorted, merged] = [merged, sorted];
  }
  return sorted;
}

/** The order of texts: the index of the first, of the second, and so on. */
export function orderOf(texts: readonly string[]): Steps<Uint32Array> {
  const order = Uint32Array.from(texts, (_, index) => index);
  return sortInTurns(order, (left, right) => byText(texts[left], texts[right]));
}

/** The texts, sorted. */
export function* sortedTexts(texts: string[]): Steps<string[]> {
  if (texts.length <= RUN) return texts.sort();
  const order = yield* orderOf(texts);
  return Array.from(order, (index) => texts[index] as string);
}

/** Merges two runs that are beside each other. */
function* merge(
  from: Uint32Array,
  to: Uint32Array,
  begin: number,
  middle: number,
  end: number,
  compare: Compare,
): Steps<void> {
  let [left, right] = [begin, middle];
  for (let next = begin; next < end; next++) {
    if ((next - begin) % RUN === RUN - 1) yield;
    const one = from[left] as number;
    const other = from[right] as number;
    const isLeft = right === end || (left < middle && compare(one, other) <= 0);
    to[next] = isLeft ? one : other;
    if (isLeft) left++;
    else right++;
  }
}

function byText(left = "", right = ""): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
