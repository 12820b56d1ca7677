import { AuthzError } from "svc-access/authz";
import { expect, test } from "vitest";
import { type RequiredFor, requiredFactors } from "../../../src/people/factors/required-factors.ts";

const signal = new AbortController().signal;

function decide(requiredFor: RequiredFor, held: readonly string[], error?: Error) {
  const engine = {
    checkBulk: async (requests: readonly { readonly permission: string }[]) => {
      if (error !== undefined) throw error;
      return { items: requests.map(({ permission }) => ({ allowed: held.includes(permission) })) };
    },
  };
  return requiredFactors(engine as never, "acme", requiredFor)("alice", signal);
}

test.each<[RequiredFor, readonly string[], boolean]>([
  [[], ["owner"], false],
  [["everyone"], [], true],
  [["owner", "admin"], [], false],
  [["owner", "admin"], ["user_viewer"], false],
  [["owner", "admin"], ["admin"], true],
])("required for %j, of somebody with %j: %j [FACTOR-4]", async (requiredFor, held, expected) => {
  expect(await decide(requiredFor, held)).toBe(expected);
});

test("nobody logs in while it is not known [FACTOR-4]", async () => {
  const down = new AuthzError("UNAVAILABLE", "down");
  await expect(decide(["owner"], [], down)).rejects.toBe(down);
});

test.each<[readonly object[], boolean]>([
  [[{ error: new AuthzError("FAILED_PRECONDITION", "too deep") }, { allowed: false }], true],
  [[{ allowed: false }, { error: new AuthzError("FAILED_PRECONDITION", "a cycle") }], true],
  [[{ error: new AuthzError("FAILED_PRECONDITION", "too deep") }, { allowed: true }], true],
])("required where the engine cannot decide a relation: %j [FACTOR-4]", async (items, expected) => {
  const engine = { checkBulk: async () => ({ items }) };
  const isRequired = requiredFactors(engine as never, "acme", ["owner", "admin"]);
  expect(await isRequired("alice", signal)).toBe(expected);
});

test.each(["UNAVAILABLE", "DEADLINE_EXCEEDED", "INTERNAL", "RESOURCE_EXHAUSTED"] as const)(
  "nobody logs in while one relation is %s, also beside one that cannot be decided [FACTOR-4]",
  async (code) => {
    const failed = new AuthzError(code, "no decision");
    const undecidable = new AuthzError("FAILED_PRECONDITION", "too deep");
    const engine = {
      checkBulk: async () => ({ items: [{ error: undecidable }, { error: failed }] }),
    };
    const isRequired = requiredFactors(engine as never, "acme", ["owner", "admin"]);
    await expect(isRequired("alice", signal)).rejects.toBe(failed);
  },
);
