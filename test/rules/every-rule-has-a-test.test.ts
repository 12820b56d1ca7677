import { existsSync, globSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, test } from "vitest";
import { RULES } from "../../src/rules/index.ts";
import { ROOT } from "../support/workspace.ts";

/** What a policy may do in good order; a comment in the source silences these, and nothing silences the others. */
const RECOMMENDED = [
  "ACCESS_AUDIT_WRITE",
  "ACCESS_AUDIT_RATE_LIMIT",
  "ACCESS_RATE_LIMIT_PUBLIC",
  "ACCESS_HTTP_STREAMING",
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

/** The tests of a rule that need more than texts of RPCs. */
const TESTED_BY: Readonly<Record<string, string>> = {
  "access-annotation-genuine": "test/api/read/annotation/annotation-definition.test.ts",
};

const FILES = globSync("src/rules/access-*.ts", { cwd: ROOT }).map((path) => basename(path, ".ts"));

test("there is a file for each rule, and every file of one is in RULES", () => {
  const idOf = (name: string) => name.replaceAll("-", "_").toUpperCase();
  expect(FILES.map(idOf).sort()).toEqual(RULES.map(({ id }) => id).sort());
});

test.each(FILES)("%s has its tests", (name) => {
  expect(existsSync(join(ROOT, TESTED_BY[name] ?? `test/rules/${name}.test.ts`))).toBe(true);
});
