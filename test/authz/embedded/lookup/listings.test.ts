import { expect, test } from "vitest";
import type { Steps } from "../../../../src/authz/embedded/graph/turns.ts";
import { Listings } from "../../../../src/authz/embedded/lookup/listings.ts";
import type { Page } from "../../../../src/authz/engine/requests.ts";

/** Lists numbers, and counts how often each listing was evaluated. */
class Numbers {
  readonly evaluations: Record<string, number> = {};
  readonly #listings = new Listings();

  /** A page of the first numbers, at the state after a write. */
  page(count: number, sequence = 1, cursor?: string): Page<string> {
    const name = String(count);
    const state = { storeId: "store", sequence, revision: `r${sequence}` };
    const evaluate = function* (this: Numbers): Steps<readonly string[]> {
      this.evaluations[name] = (this.evaluations[name] ?? 0) + 1;
      return Array.from({ length: count }, (_, index) => String(index).padStart(7, "0"));
    }.bind(this);
    const request = { pageSize: 2, ...(cursor === undefined ? {} : { cursor }) };
    const steps = this.#listings.page([name], request, state, evaluate, (item) => item);
    for (;;) {
      const { done, value } = steps.next();
      if (done === true) return value;
    }
  }
}

test("further pages of recent listings need no evaluation, and continue where the previous page ended", () => {
  const numbers = new Numbers();
  const counts = [90_000, 100_000];
  const firsts = counts.map((count) => numbers.page(count).nextCursor);
  const pages = counts.map((count, index) => numbers.page(count, 1, firsts[index]));
  expect(pages.map(({ items }) => items)).toEqual(counts.map(() => ["0000002", "0000003"]));
  expect(numbers.evaluations).toEqual({ 90000: 1, 100000: 1 });
});

test("if listings together are too long, the oldest is dropped, and evaluated again for its next page", () => {
  const numbers = new Numbers();
  const [oldest, ...others] = [90_000, 90_001, 90_002].map((count) => {
    return { count, cursor: numbers.page(count).nextCursor };
  });
  for (const { count, cursor } of others) numbers.page(count, 1, cursor);
  expect(numbers.page(90_000, 1, oldest?.cursor).items).toEqual(["0000002", "0000003"]);
  expect(numbers.evaluations).toEqual({ 90000: 2, 90001: 1, 90002: 1 });
});

test("a listing that leaves no room for others is kept alone, so that its pages need no evaluation", () => {
  const numbers = new Numbers();
  const other = numbers.page(100).nextCursor;
  let cursor = numbers.page(200_001).nextCursor;
  for (let page = 0; page < 5; page++) cursor = numbers.page(200_001, 1, cursor).nextCursor;
  expect(numbers.evaluations).toEqual({ 100: 1, 200001: 1 });
  numbers.page(100, 1, other);
  expect(numbers.evaluations).toEqual({ 100: 2, 200001: 1 });
});

test("a repeated page counts once", () => {
  const numbers = new Numbers();
  for (let time = 0; time < 3; time++) numbers.page(150_000);
  expect(numbers.evaluations).toEqual({ 150000: 1 });
});

test("the last page of a listing can be repeated without an evaluation", () => {
  const numbers = new Numbers();
  const { nextCursor } = numbers.page(4);
  for (let time = 0; time < 3; time++) {
    const { items, nextCursor: after } = numbers.page(4, 1, nextCursor);
    expect([items, after]).toEqual([["0000002", "0000003"], undefined]);
  }
  expect(numbers.evaluations).toEqual({ 4: 1 });
});

test("at most eight listings are kept", () => {
  const numbers = new Numbers();
  const counts = Array.from({ length: 9 }, (_, index) => 10 + index);
  for (const count of counts) numbers.page(count);
  for (const count of counts.toReversed()) numbers.page(count);
  expect(numbers.evaluations["10"]).toBe(2);
  expect(Object.values(numbers.evaluations).filter((count) => count === 1)).toHaveLength(8);
});

test("any listing after a write drops what was kept of the previous state", () => {
  const numbers = new Numbers();
  const { nextCursor } = numbers.page(100);
  // It has one page, so it is not kept itself.
  numbers.page(1, 2);
  expect(() => numbers.page(100, 3, nextCursor)).toThrow("list again from the first page");
  // The previous state is never current again; the counts would show what was kept of it.
  numbers.page(100, 1, nextCursor);
  expect(numbers.evaluations["100"]).toBe(2);
});
