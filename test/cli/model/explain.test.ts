import { beforeAll, expect, test } from "vitest";
import { DOCUMENTS, useModelFolder } from "./model-folder.ts";

const { write, run } = useModelFolder();

beforeAll(() => {
  write("docs.zed", DOCUMENTS);
  write(
    "stored.txt",
    "doc:a#owner@group:eng#member\ngroup:eng#member@user:ann\ndoc:b#parent@doc:a\ndoc:b#banned@user:bob\n",
  );
});

const check = (check: string, ...more: string[]) =>
  run("explain", "docs.zed", "--relationships", "stored.txt", "--check", check, ...more);

test("which relations grant a permission", () => {
  const { status, stdout } = run("explain", "docs.zed", "doc", "edit");
  expect(stdout).toBe(
    "doc#edit is held by any of\n  owner: user, group#member\n  parent->edit: all who hold edit on its parent (type doc)\n",
  );
  expect(status).toBe(0);
  expect(
    JSON.parse(run("explain", "--format", "json", "docs.zed", "doc", "edit").stdout),
  ).toMatchObject({ type: "doc", permission: "edit", grant: { kind: "any" } });
});

test("why a check is allowed", () => {
  const { status, stdout } = check("doc:b#edit@user:ann");
  expect(stdout).toMatch(/^user:ann is allowed:\n {2}doc:b#edit: allowed/);
  expect(stdout).toContain("doc:a#owner: allowed by doc:a#owner@group:eng#member\n");
  expect(stdout).toContain("group:eng#member: allowed by group:eng#member@user:ann\n");
  expect(status).toBe(0);
});

test("the steps of a denied check", () => {
  const { status, stdout } = check("doc:b#view@user:bob");
  expect(stdout).toMatch(/^user:bob is denied:\n {2}doc:b#view: denied/);
  expect(stdout).toContain("group:eng#member: denied, no relationship names user:bob\n");
  expect(status).toBe(0);
  expect(JSON.parse(check("doc:b#view@user:bob", "--format", "json").stdout)).toMatchObject({
    check: "doc:b#view@user:bob",
    allowed: false,
    explanation: { resource: { type: "doc", id: "b" }, permission: "view", allowed: false },
  });
});

test("a relationship that the model does not allow is reported, and the exit code is 1", () => {
  write("wrong.txt", "doc:a#owner@user:ann\ndoc:a#owner@doc:b\n");
  const { status, stderr } = run(
    ...["explain", "docs.zed", "--relationships", "wrong.txt", "--check", "doc:a#view@user:ann"],
  );
  expect(stderr).toBe(
    "wrong.txt:2:1: doc:a#owner@doc:b: doc#owner does not accept doc; it accepts user, group#member\n",
  );
  expect(status).toBe(1);
});

test.each([
  [["docs.zed"], "name a type and a permission, or a check"],
  [["docs.zed", "doc"], "name a type and a permission, as in"],
  [["docs.zed", "dok", "view"], 'docs.zed has no type dok; did you mean "doc"?'],
  [["docs.zed", "doc", "veiw"], 'has no relation or permission veiw; did you mean "view"?'],
  [["docs.zed", "--check", "doc:a#view@user:ann"], "--check and --relationships need each other"],
  [
    ["missing.zed", "doc", "view"],
    "the model missing.zed does not exist; create it, or name another file",
  ],
  [
    ["docs.zed", "--relationships", "stored.txt", "--check", "doc:a#view"],
    '--check "doc:a#view" is not a relationship: it has no @',
  ],
  [
    ["docs.zed", "--relationships", "stored.txt", "--check", "doc:a#read@user:ann"],
    "--check doc:a#read@user:ann: ",
  ],
])("%j is a usage error", (args, message) => {
  const { status, stderr } = run("explain", ...args);
  expect(stderr).toContain(message);
  expect(stderr.trimEnd()).not.toContain("\n");
  expect(status).toBe(2);
});
