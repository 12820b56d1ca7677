import fc from "fast-check";

/** One generator for all choices: fast-check looks each generator up among all earlier ones. */
const number = () => fc.noBias(fc.nat());

/** Random choices, which fast-check makes and shrinks. */
export class RandomChoice {
  readonly #gen: fc.GeneratorValue;

  constructor(gen: fc.GeneratorValue) {
    this.#gen = gen;
  }

  /** A whole number from 0, below `end`. */
  below(end: number): number {
    return this.#gen(number) % end;
  }

  /** True with a probability of one in `chances`. */
  oneIn(chances: number): boolean {
    return this.below(chances) === chances - 1;
  }

  of<Item>(items: readonly Item[]): Item {
    if (items.length === 0) throw new Error("there is nothing to choose from");
    return items[this.below(items.length)] as Item;
  }

  /** Different items in any order, at least a minimum of them. */
  someOf<Item>(items: readonly Item[], atLeast = 0): Item[] {
    const rest = [...items];
    const count = atLeast + this.below(items.length - atLeast + 1);
    return Array.from({ length: count }, () => rest.splice(this.below(rest.length), 1)).flat();
  }

  /** A number of choices, made one after another. */
  list<Item>(length: number, choose: () => Item): Item[] {
    return Array.from({ length }, choose);
  }
}
