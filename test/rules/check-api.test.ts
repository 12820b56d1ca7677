import { expect, test } from "vitest";
import { POLICY_EXTENSION, POLICY_FIELD } from "../../src/api/policy.ts";
import { readApi } from "../../src/compiler/read/read-api.ts";
import { parseModel } from "../../src/model/index.ts";
import { checkApi, severityOf } from "../../src/rules/check-api.ts";
import { CATEGORIES, RULES } from "../../src/rules/index.ts";
import { DEFINITION, encode, encodeFile, methodOf } from "../api/descriptors.ts";

/** What the rules say of a file with the RPC `A`, which has no policy, and `B`, a PUBLIC one or that of a policy. */
function check(options: { comment?: string; withModel?: boolean; policy?: Uint8Array } = {}) {
  const { comment = "", withModel = false, policy = encode([1, 0]) } = options;
  const location = [0, 1].map((index) => {
    return { path: [6, 0, 2, index], span: [index + 1, 2, 5], leadingComments: comment };
  });
  const bytes = encodeFile({
    name: "a.proto",
    package: "a.v1",
    service: [{ name: "S", method: [methodOf("A"), methodOf("B", [POLICY_EXTENSION, policy])] }],
    sourceCodeInfo: { location },
  });
  const { api, locator } = readApi([[DEFINITION, { bytes, target: true }]], undefined);
  return checkApi(
    api,
    locator,
    withModel ? parseModel("definition user {}", "m").model : undefined,
  );
}

const rulesOf = ({ diagnostics }: ReturnType<typeof check>) =>
  diagnostics.map(({ line, column, severity, rule }) => `${line}:${column} ${severity} ${rule}`);

test("findings are in the order of the file, each with its severity [COMP-2]", () => {
  expect(rulesOf(check())).toEqual([
    "2:3 error ACCESS_POLICY_REQUIRED",
    "3:3 warning ACCESS_AUDIT_WRITE",
    "3:3 warning ACCESS_RATE_LIMIT_PUBLIC",
  ]);
});

test("a comment silences a warning, but never an error, which stops every generation", () => {
  expect(rulesOf(check({ comment: " buf:lint:ignore ACCESS_AUDIT_WRITE\n" }))).toEqual([
    "2:3 error ACCESS_POLICY_REQUIRED",
    "3:3 warning ACCESS_RATE_LIMIT_PUBLIC",
  ]);
  expect(rulesOf(check({ comment: " buf:lint:ignore ACCESS_POLICY_REQUIRED\n" }))).toContain(
    "2:3 error ACCESS_POLICY_REQUIRED",
  );
});

test("rules that need a model are skipped without one, and named", () => {
  const policy = encode([1, 2], [POLICY_FIELD.authz, encode([1, "view"], [2, "item:a"])]);
  expect(check({ policy }).skipped).toEqual([
    "ACCESS_AUTHZ_ACTION_KNOWN",
    "ACCESS_AUTHZ_AUDIENCE_KNOWN",
  ]);
  expect(check({ policy, withModel: true }).skipped).toEqual([]);
});

test("without an RPC with a permission, no rule needs a model", () => {
  expect(check().skipped).toEqual([]);
});

test.each(RULES)("$id is a rule that buf lint can load", ({ id, purpose, category }) => {
  expect(id).toMatch(/^ACCESS_[A-Z0-9_]*[A-Z0-9]$/);
  expect(id.length).toBeLessThanOrEqual(64);
  expect(purpose).toMatch(/^Checks .*[^.]\.$/);
  expect(CATEGORIES.map((each) => each.id)).toContain(category);
});

test("each rule has its own id, and only ACCESS findings are errors", () => {
  expect(new Set(RULES.map(({ id }) => id)).size).toBe(RULES.length);
  expect(RULES.map((rule) => `${rule.category} ${severityOf(rule)}`)).toEqual(
    RULES.map(({ category }) => `${category} ${category === "ACCESS" ? "error" : "warning"}`),
  );
});
