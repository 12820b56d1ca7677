import { expect, test } from "vitest";
import { RULES } from "../../src/rules/index.ts";

/** What a policy may do in good order; a comment in the source silences these, and nothing silences the others. */
const RECOMMENDED = [
  "ACCESS_AUDIT_WRITE",
  "ACCESS_AUDIT_RATE_LIMIT",
  "ACCESS_RATE_LIMIT_PUBLIC",
  "ACCESS_PATH_VERSIONED",
  "ACCESS_PATH_SERVICE",
  "ACCESS_ROUTE_UNPUBLISHED",
  "ACCESS_AUTHZ_WRITE",
  "ACCESS_AUTHZ_WHOLE_NAME",
  "ACCESS_AUTHZ_OBJECT_UNUSED",
  "ACCESS_AUTHZ_PARENT_UNUSED",
];

test("every rule is an error except the recommended ones", () => {
  const recommending = RULES.filter(({ category }) => category === "ACCESS_RECOMMENDED");
  expect(recommending.map(({ id }) => id)).toEqual(RECOMMENDED);
  expect(RULES.length).toBeGreaterThan(RECOMMENDED.length);
});
