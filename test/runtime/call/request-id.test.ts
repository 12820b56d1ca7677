import { expect, test } from "vitest";
import { newRequestId, requestIdOf } from "../../../src/runtime/call/call-ids.ts";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const headers = (...values: string[]) => ({ all: () => values, names: () => [] });

test("new ids are different UUIDs of version 4", () => {
  const ids = Array.from({ length: 2000 }, newRequestId);
  for (const id of ids) expect(id).toMatch(UUID);
  expect(new Set(ids).size).toBe(ids.length);
});

test("every random digit takes every value", () => {
  const ids = Array.from({ length: 2000 }, () => newRequestId().replaceAll("-", ""));
  for (const place of Array.from({ length: 32 }, (_, index) => index)) {
    const digits = new Set(ids.map((id) => id[place]));
    expect(digits.size, `digit ${place}`).toBe(place === 12 ? 1 : place === 16 ? 4 : 16);
  }
});

test.each([
  [["mine"], "mine"],
  [["a.b_c:d-1"], "a.b_c:d-1"],
  [["a"], "a"],
  [["x".repeat(128)], "x".repeat(128)],
])("the caller's id %j is taken", (sent, id) => expect(requestIdOf(headers(...sent))).toBe(id));

test.each([
  [[]],
  [[""]],
  [["a", "b"]],
  [["a b"]],
  [["-a"]],
  [["a\n"]],
  [["<a>"]],
  [["x".repeat(129)]],
])("in the place of %j there is a new one", (sent) => {
  expect(requestIdOf(headers(...sent))).toMatch(UUID);
});
