/** How much of a model an explanation walks; what SpiceDB would answer is given. */
import { afterEach, expect, test, vi } from "vitest";
import type { Explanation } from "../../../src/authz/engine/requests.ts";
import { explain } from "../../../src/authz/spicedb/check/explain.ts";
import { ExplainReads } from "../../../src/authz/spicedb/check/explain-reads.ts";
import type { SpicedbSession } from "../../../src/authz/spicedb/client/session.ts";
import { modelOf, request } from "./fixture.ts";

const TOKEN = "GgYKBENOVEM=";
const HAS_PERMISSION = 2;
const NO_PERMISSION = 1;

afterEach(() => void vi.restoreAllMocks());

/** Explains `top` of a document, where SpiceDB grants what is named, and nothing is stored. */
async function explained(document: string, isGranted: (name: string) => boolean) {
  const model = modelOf(`definition user {}\ndefinition document {\n${document}\n}`);
  const permissionship = isGranted("top") ? HAS_PERMISSION : NO_PERMISSION;
  const direct = vi.spyOn(ExplainReads.prototype, "direct").mockResolvedValue(undefined);
  vi.spyOn(ExplainReads.prototype, "usersets").mockResolvedValue([]);
  const granted = vi
    .spyOn(ExplainReads.prototype, "granted")
    .mockImplementation(async (asked) => asked.map(({ relation = "" }) => isGranted(relation)));
  const session = {
    model,
    validator: { check: () => undefined, isUnknownCaller: () => false },
    freshness: { read: async () => ({ consistency: {}, atLeast: TOKEN, seen: () => undefined }) },
    connection: { unary: async () => ({ permissionship, checkedAt: { token: TOKEN } }) },
  } as unknown as SpicedbSession;
  const { explanation } = await explain(session, request("document:a#top@user:ann"));
  return { explanation, direct, granted };
}

function stepsOf({ children }: Explanation): number {
  return 1 + children.reduce((sum, child) => sum + stepsOf(child), 0);
}

test("an operand that SpiceDB grants, and whose steps do not, is walked once", async () => {
  const { explanation, direct } = await explained(
    `relation viewer: user
  relation editor: user
  permission both = viewer & editor
  permission top = both + viewer`,
    (name) => name === "both" || name === "top",
  );
  expect(explanation).toMatchObject({ kind: "union", allowed: false });
  expect(explanation.children.map(({ permission }) => permission)).toEqual(["both", "viewer"]);
  const asked = direct.mock.calls.map(([, name]) => name);
  // Once of `both`, and once as the other operand.
  expect(asked).toEqual(["viewer", "editor", "viewer"]);
});

/** Each name leads to two of the next: some thousands at the end. */
function doubling(levels: number, operator: string): string {
  const lines = ["relation viewer: user"];
  for (let level = 0; level < levels; level++) {
    const below = level === 0 ? "viewer" : `level${level - 1}`;
    lines.push(`permission level${level} = ${below} ${operator} (${below} ${operator} ${below})`);
  }
  return [...lines, `permission top = level${levels - 1}`].join("\n");
}

test.each([
  ["&", true],
  ["&", false],
  ["+", false],
  ["-", false],
])(
  "names that lead to many by %s end at the most steps, decided (%s)",
  async (operator, allowed) => {
    const { explanation, granted } = await explained(doubling(12, operator), () => allowed);
    expect(stepsOf(explanation)).toBeLessThan(1000);
    expect(granted.mock.calls.length).toBeLessThan(2000);
    // Nothing is stored, so that no relation that was walked grants: what is left out does not either.
    expect(explanation.allowed).toBe(false);
  },
);
