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
