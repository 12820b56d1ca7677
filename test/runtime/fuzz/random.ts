/** The same numbers for the same seed (mulberry32). */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed | 0;
  }

  /** A whole number from 0, below a limit. */
  below(limit: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
  }

  chance(percent: number): boolean {
    return this.below(100) < percent;
  }

  pick<Item>(items: readonly Item[]): Item {
    return items[this.below(items.length)] as Item;
  }

  /** A text that no other input has. */
  name(): string {
    return `${this.below(2 ** 32).toString(36)}${this.below(2 ** 32).toString(36)}`;
  }
}

/** Any bytes except line ends, as one character each. */
const BYTES = new Array(256)
  .fill(0)
  .map((_, code) => String.fromCharCode(code))
  .filter((character) => character !== "\r" && character !== "\n");

/** Changes a text at one position: inserts, deletes, replaces, doubles or truncates. */
export function mutateText(random: Random, text: string, pieces: readonly string[]): string {
  const at = random.below(text.length + 1);
  const to = Math.min(text.length, at + 1 + random.below(4));
  const piece = random.chance(70) ? random.pick(pieces) : random.pick(BYTES);
  switch (random.below(7)) {
    case 0:
      return text.slice(0, at) + piece + text.slice(at);
    case 1:
      return text.slice(0, at) + text.slice(to);
    case 2:
      return text.slice(0, at) + piece + text.slice(to);
    case 3:
      return text + piece;
    case 4:
      return piece + text;
    case 5:
      return text.slice(0, to) + text.slice(at);
    default: {
      const letter = text.charAt(at);
      const other = letter === letter.toUpperCase() ? letter.toLowerCase() : letter.toUpperCase();
      return text.slice(0, at) + other + text.slice(at + 1);
    }
  }
}
