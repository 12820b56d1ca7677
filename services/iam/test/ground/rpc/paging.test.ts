/** The page tokens of lists that continue after the key of an item. */
import { expect, test } from "vitest";
import { PageTokens } from "../../../src/ground/rpc/paging.ts";
import { SealedTokens } from "../../../src/ground/rpc/sealed-tokens.ts";
import { PAGE_TOKENS } from "../../rights/rights-engine.ts";

const ALICE = { subjectType: "user", subjectId: "alice" };
const KEY = "the-name-of-the-last-user";
const tokensOf = (rpc: string, caller: typeof ALICE, ...list: readonly string[]) =>
  new PageTokens(new SealedTokens(PAGE_TOKENS, rpc, caller), ...list);
const tokens = tokensOf("ListUsers", ALICE, "acme", "");
const refused = expect.objectContaining({
  code: "INVALID_ARGUMENT",
  message: expect.stringContaining("list again from the first page"),
});

test("a page begins where its token says, and the first one at the beginning", () => {
  expect(tokens.read(tokens.after(KEY))).toBe(KEY);
  expect(tokensOf("ListUsers", ALICE, "acme", "").read(tokens.after(KEY))).toBe(KEY);
  expect(tokens.read("")).toBe("");
});

test("nobody reads where a list has stopped", () => {
  const token = tokens.after(KEY);
  const bytes = Buffer.from(token.split(".").at(-1) ?? "", "base64url").toString("latin1");
  for (const text of [token, bytes]) expect(text).not.toContain(KEY);
});

test.each([
  ["of another RPC", tokensOf("ListGroups", ALICE, "acme", "")],
  ["of another caller", tokensOf("ListUsers", { ...ALICE, subjectId: "bob" }, "acme", "")],
  ["of a service", tokensOf("ListUsers", { ...ALICE, subjectType: "service" }, "acme", "")],
  ["of another organization", tokensOf("ListUsers", ALICE, "other", "")],
  ["with another filter", tokensOf("ListUsers", ALICE, "acme", "a")],
  ["with its filters in another order", tokensOf("ListUsers", ALICE, "", "acme")],
])("a token of a list %s is refused", (_, others) => {
  expect(() => tokens.read(others.after(KEY))).toThrow(refused);
});

test.each([
  ["of a former version", `users.1.${Buffer.from("bob").toString("base64url")}`],
  ["that was cut", tokens.after(KEY).slice(0, -4)],
  ["that is too long", "v1.".padEnd(20_000, "A")],
  ["of nobody", "x"],
])("a token %s is refused", (_, token) => {
  expect(() => tokens.read(token)).toThrow(refused);
});
