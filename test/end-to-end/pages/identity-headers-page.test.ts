import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { IDENTITY_HEADERS } from "../../../src/api/identity-headers.ts";
import { ROOT } from "../../support/workspace.ts";

test("docs/operations.md lists exactly the identity headers [HDR-1]", () => {
  const text = readFileSync(join(ROOT, "docs/operations.md"), "utf8");
  const part = /^### The identity headers$([\s\S]*?)^#/m.exec(text)?.[1] ?? "";
  const table = part.split("\n").filter((line) => line.startsWith("| `"));
  // Each name in the first column has its own row.
  const rows = table.map((line) => line.split("|")[1] ?? "").join("");
  const listed = [...rows.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name);
  expect(listed.toSorted()).toEqual(IDENTITY_HEADERS.toSorted());
});
