import { beforeAll, expect, test } from "vitest";
import { DOCUMENTS, useModelFolder } from "./model-folder.ts";

const { write, run } = useModelFolder();

beforeAll(() => {
  write("old.zed", DOCUMENTS);
  write("wider.zed", DOCUMENTS.replace(" - banned", ""));
  write("fewer.zed", DOCUMENTS.replace(" | user:*", "").replace("edit = owner", "edit = nil"));
});

test("the same model", () => {
  expect(run("diff", "old.zed", "old.zed")).toMatchObject({
    status: 0,
    stdout: "The models allow the same.\n",
  });
});

test("a wider permission blocks nothing", () => {
  const { status, stdout } = run("diff", "old.zed", "wider.zed");
  expect(stdout).toBe(
    "~ permission doc#view: (viewer + edit) - banned => viewer + edit (widens) wider.zed:14:14\n",
  );
  expect(status).toBe(0);
});

test("without relationships, a removed subject may block", () => {
  const { status, stdout } = run("diff", "old.zed", "fewer.zed");
  expect(stdout.split("\n")).toEqual([
    "- subject doc#viewer: user:* (narrows; may block) old.zed:10:27",
    "~ permission doc#edit: owner + parent->edit => nil + parent->edit (narrows) fewer.zed:13:14",
    "~ permission doc#view, through its references (narrows) fewer.zed:14:14",
    "1 change may block: --relationships shows which stored relationships do",
    "",
  ]);
  expect(status).toBe(1);
  expect(JSON.parse(run("diff", "--format", "json", "old.zed", "fewer.zed").stdout)).toMatchObject({
    changes: [{ kind: "subject", mayBlock: true }, { mayBlock: false }, { mayBlock: false }],
    blocking: [],
    blocked: null,
  });
});

test("--fail-on widens fails only for a change that widens access, or may", () => {
  write("both.zed", DOCUMENTS.replace("edit = owner", "edit = viewer"));
  for (const [name, status] of [
    ["old.zed", 0],
    ["fewer.zed", 0],
    ["wider.zed", 1],
    ["both.zed", 1],
  ] as const) {
    const found = run("diff", "old.zed", name, "--fail-on", "widens");
    expect({ name, status: found.status }).toEqual({ name, status });
  }
  expect(run("diff", "old.zed", "both.zed").stdout).toContain("may widen and narrow");
  expect(run("diff", "old.zed", "old.zed", "--fail-on", "narrows").status).toBe(2);
});

test("with relationships, those that block are named", () => {
  write("stored.txt", "// all\ndoc:a#viewer@user:ann\n  doc:a#viewer@user:*\n");
  const { status, stdout } = run("diff", "old.zed", "fewer.zed", "--relationships", "stored.txt");
  expect(stdout).toContain(
    "stored.txt:3:3: doc:a#viewer@user:* blocks the change: doc#viewer does not accept user:*; it accepts user, group#member\n1 stored relationship must be deleted first.\n",
  );
  expect(status).toBe(1);
  const json = run(
    ...["diff", "--format", "json", "old.zed", "fewer.zed", "--relationships", "stored.txt"],
  );
  expect(JSON.parse(json.stdout)).toMatchObject({
    blocking: [{ file: "stored.txt", line: 3, column: 3, relationship: "doc:a#viewer@user:*" }],
    blocked: true,
  });
});

test("relationships that the new model allows do not block", () => {
  write("stored.yaml", "relationships: |\n  doc:a#viewer@user:ann\n");
  const { status, stdout } = run("diff", "old.zed", "fewer.zed", "--relationships", "stored.yaml");
  expect(stdout).toContain("No stored relationship blocks the change.");
  expect(stdout).not.toContain("may block");
  expect(status).toBe(0);
});

test("unusable input is a usage error", () => {
  write("wrong.txt", "doc:a#viewer@user:ann\ndoc:a\n");
  write("wrong.zed", "definition doc {\n  relation owner: usr\n}\n");
  const wrong = run("diff", "old.zed", "old.zed", "--relationships", "wrong.txt");
  expect(wrong.stderr).toMatch(
    /^svc-access: wrong\.txt:2:1: "doc:a" is not a relationship: [^\n]*\n$/,
  );
  expect(wrong.status).toBe(2);
  expect(run("diff", "old.zed", "wrong.zed").stderr).toContain("wrong.zed:2:19: ");
  expect(run("diff", "old.zed", "wrong.zed").status).toBe(2);
  expect(run("diff", "old.zed", "missing.zed").status).toBe(2);
});
