import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import {
  comparableSecret,
  findSecret,
} from "../../../../src/runtime/authn/internal/comparable-secret.ts";

const LONGEST_TEXT = 254;
const text = (length: number) => "x".repeat(length);
const sha256 = (secret: string) => createHash("sha256").update(secret).digest().toString("latin1");

describe("43 secrets that differ have different forms [AUTHN-8]", () => {
  test.each([
    ["one character", "secret", "secreT"],
    ["the first", "secret", "Secret"],
    ["empty", "secret", ""],
    ["a part", "secret", "secre"],
    ["a zero byte at the end", "secret", "secret\0"],
    ["two bytes and the two characters of them", "\u00e9", "\u00c3\u00a9"],
    ["the longest text and one more", text(LONGEST_TEXT), text(LONGEST_TEXT + 1)],
    ["two long ones", text(1000), `${text(999)}y`],
    ["two long ones of other lengths", text(1000), text(1001)],
    ["a long one and its digest", text(1000), sha256(text(1000))],
    ["a long one of few characters", "\u20ac".repeat(100), "\u20ac".repeat(101)],
  ])("%s", (_name, one, other) => {
    expect(findSecret(comparableSecret(one), [comparableSecret(other)])).toBe(-1);
    expect(findSecret(comparableSecret(one), [comparableSecret(one)])).toBe(0);
  });
});

test("43 a form does not have traces of the secret that its buffer held [AUTHN-8]", () => {
  const form = Buffer.alloc(256);
  for (const secret of [text(LONGEST_TEXT), "short", text(1000), "", "short"]) {
    expect(comparableSecret(secret, form)).toBe(form);
    expect(form).toEqual(comparableSecret(secret));
  }
});

test("43 a secret is compared with all accepted ones [AUTHN-8]", () => {
  const accepted = ["a", "b", "a"].map((secret) => comparableSecret(secret));
  expect(findSecret(comparableSecret("a"), accepted)).toBe(2);
  expect(findSecret(comparableSecret("b"), accepted)).toBe(1);
  expect(findSecret(comparableSecret("c"), accepted)).toBe(-1);
  expect(findSecret(comparableSecret("a"), [])).toBe(-1);
});
