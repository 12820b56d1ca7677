import { describe, expect, test } from "vitest";
import { DOCUMENTS, useModelFolder } from "./model-folder.ts";

const { write, run } = useModelFolder();

/** A validation file over the model of documents. */
function validation(name: string, more: string): string {
  write("docs.zed", DOCUMENTS);
  return write(name, `schemaFile: ./docs.zed\n${more}`);
}

const RELATIONSHIPS = `relationships: |
  doc:a#viewer@user:*
  doc:a#banned@user:bob
  doc:a#owner@group:eng#member
  group:eng#member@user:ann
`;

const PASSING = `${RELATIONSHIPS}assertions:
  assertTrue:
    - doc:a#view@user:eve
    - 'doc:a#view@user:ann#... with {"day": 1}'
  assertFalse:
    - doc:a#view@user:bob
validation:
  doc:a#view:
    - "[user:* - {user:bob}] is <doc:a#viewer>"
    - "[user:ann] is <group:eng#member>"
    - "[group:eng#member] is <doc:a#owner>"
`;

test("true assertions pass, with coverage", () => {
  const { status, stdout } = run("test", validation("passing.yaml", PASSING));
  expect(stdout).toBe(
    "passing.yaml: 7 passed, 0 failed\n" +
      "docs.zed: 1 of 2 permissions exercised, 50 percent\n" +
      "  not exercised: doc#edit\n" +
      "1 file: 7 passed, 0 failed\n",
  );
  expect(status).toBe(0);
});

test("coverage counts all files of a model, and a minimum can be required", () => {
  const passing = validation("passing.yaml", PASSING);
  const edit = validation("edit.yaml", "assertions:\n  assertFalse: [doc:a#edit@user:eve]\n");
  expect(run("test", "--min-coverage", "51", passing).status).toBe(1);
  expect(run("test", "--min-coverage", "50", passing).status).toBe(0);
  const { status, stdout } = run("test", "--min-coverage", "100", passing, edit);
  expect(stdout).toContain(
    "docs.zed: 2 of 2 permissions exercised, 100 percent\n2 files: 8 passed",
  );
  expect(status).toBe(0);
});

describe("a wrong expectation fails at its position", () => {
  test.each([
    [
      "an assertion that should allow",
      `${RELATIONSHIPS}assertions:\n  assertTrue:\n    - doc:a#edit@user:bob\n`,
      [9, 7, "assertTrue", "doc:a#edit@user:bob"],
      "denied, expected allowed\n  doc:a#edit: denied, none of these allows\n    doc:a#owner: denied, no relationship names user:bob",
    ],
    [
      "an assertion that should deny",
      `${RELATIONSHIPS}assertions:\n  assertFalse:\n    - "doc:a#edit@user:ann"\n`,
      [9, 7, "assertFalse", "doc:a#edit@user:ann"],
      "group:eng#member: allowed by group:eng#member@user:ann",
    ],
    [
      "an unknown permission",
      "assertions:\n  assertFalse:\n    - doc:a#veiw@user:ann\n",
      [4, 7, "assertFalse", "doc:a#veiw@user:ann"],
      "veiw",
    ],
    [
      "a wildcard as the subject of a check",
      "assertions:\n  assertTrue:\n    - doc:a#view@user:*\n",
      [4, 7, "assertTrue", "doc:a#view@user:*"],
      "a wildcard cannot be the subject of a check",
    ],
    [
      "an assertion with a caveat",
      "assertions:\n  assertTrue:\n    - doc:a#view@user:ann[on_duty]\n",
      [4, 7, "assertTrue", "doc:a#view@user:ann[on_duty]"],
      "an assertion has no caveat; remove [on_duty]",
    ],
    [
      "a relationship that the model does not allow",
      "relationships: |\n\n  doc:a#owner@doc:b\n",
      [4, 3, "relationship", "doc:a#owner@doc:b"],
      "doc#owner does not accept doc; it accepts user, group#member",
    ],
    [
      "a relationship to a permission",
      "relationships: doc:a#view@user:ann\n",
      [2, 16, "relationship", "doc:a#view@user:ann"],
      "doc#view is a permission, which is computed and never stored",
    ],
    [
      "a relationship of an unknown type",
      "relationships: dok:a#view@user:ann\n",
      [2, 16, "relationship", "dok:a#view@user:ann"],
      'the model has no type dok; did you mean "doc"?',
    ],
    [
      "a relationship with a caveat",
      "relationships: doc:a#owner@user:ann[on_duty]\n",
      [2, 16, "relationship", "doc:a#owner@user:ann[on_duty]"],
      "does not accept user with on_duty",
    ],
    [
      "relationships that close a cycle",
      "relationships: >-\n  group:a#member@group:b#member\n\n  group:b#member@group:a#member\n",
      [5, 3, "relationship", "group:b#member@group:a#member"],
      "group:a#member",
    ],
    [
      "an expected subject that is not found",
      `${RELATIONSHIPS}validation:\n  doc:a#edit:\n    - "[user:ann] is <group:eng#member>"\n    - "[group:eng#member] is <doc:a#owner>"\n    - "[user:eve] is <doc:a#owner>"\n`,
      [11, 7, "validation", "[user:eve] is <doc:a#owner>"],
      "user:eve is not found in doc:a#edit",
    ],
    [
      "a subject that is not expected",
      `${RELATIONSHIPS}validation:\n  doc:a#edit:\n    - "[group:eng#member] is <doc:a#owner>"\n`,
      [8, 3, "validation", "doc:a#edit"],
      '"[user:ann] is <group:eng#member>" is found but not listed; add it',
    ],
    [
      "a subject of another path",
      `${RELATIONSHIPS}validation:\n  group:eng#member:\n    - "[user:ann] is <doc:a#owner>"\n`,
      [9, 7, "validation", "[user:ann] is <doc:a#owner>"],
      "user:ann is found through <group:eng#member>, expected <doc:a#owner>",
    ],
    [
      "a wildcard with other exceptions",
      `${RELATIONSHIPS}validation:\n  doc:a#viewer:\n    - "[user:* - {user:bob}] is <doc:a#viewer>"\n`,
      [9, 7, "validation", "[user:* - {user:bob}] is <doc:a#viewer>"],
      "user:* leaves out nobody, expected {user:bob}",
    ],
    [
      "an expected subject under a caveat",
      `${RELATIONSHIPS}validation:\n  group:eng#member:\n    - "[user:ann[...]] is <group:eng#member>"\n`,
      [9, 7, "validation", "[user:ann[...]] is <group:eng#member>"],
      "not supported",
    ],
    [
      "an expected line without a subject",
      "validation:\n  doc:a#edit:\n    - nobody\n",
      [4, 7, "validation", "nobody"],
      "the line names no subject",
    ],
    [
      "an expected relation of a permission that there is not",
      "validation:\n  doc:a#edti: []\n",
      [3, 3, "validation", "doc:a#edti"],
      'doc has no relation or permission edti; did you mean "edit"?',
    ],
  ])("%s", (_title, text, [line, column, kind, assertion], message) => {
    const name = validation("failing.yaml", text);
    const { status, stdout } = run("test", "--format", "json", name);
    const document = JSON.parse(stdout);
    const [file] = document.files;
    expect(Object.keys(file)).toEqual(["file", "passed", "failed", "failures"]);
    expect(document).toMatchObject({ passed: file.passed, failed: 1 });
    expect(file).toMatchObject({ file: name, failed: 1 });
    expect(file.failures).toEqual([
      { line, column, kind, assertion, message: expect.stringContaining(String(message)) },
    ]);
    expect(status).toBe(1);
  });
});

test("a failure is a line with its reasons below", () => {
  const text = "assertions:\n  assertTrue:\n    - doc:a#edit@user:bob\n";
  const { stdout } = run("test", validation("failing.yaml", text));
  expect(stdout).toMatch(
    /^failing\.yaml:4:7: assertTrue doc:a#edit@user:bob: denied, expected allowed\n {2}doc:a#edit: denied/,
  );
});

test("assertCaveated is not run, and reported", () => {
  const text = "assertions:\n  assertCaveated:\n    - doc:a#edit@user:bob\n";
  const name = validation("caveated.yaml", text);
  const { status, stdout } = run("test", name);
  expect(stdout).toContain(
    "caveated.yaml:4:7: not run: doc:a#edit@user:bob: assertCaveated is not",
  );
  expect(stdout).toContain("\n1 file: 0 passed, 0 failed, 1 not run\n");
  expect(status).toBe(0);
  const { notRun } = JSON.parse(run("test", "--format", "json", name).stdout);
  expect(notRun).toMatchObject([{ file: name, line: 4, column: 7 }]);
});

test("a schema with caveats is rejected, and nothing is run", () => {
  const name = write(
    "caveats.yaml",
    "schema: |\n  definition user {}\n  caveat on_duty(day int) {\n    day == 1\n  }\n  definition doc {\n    relation owner: user with on_duty\n  }\nassertions:\n  assertFalse:\n    - doc:a#owner@user:ann\n",
  );
  const { status, stdout } = run("test", name);
  expect(stdout).toMatch(/^caveats\.yaml:2:3: schema: [^\n]*on_duty/);
  expect(stdout).toContain("1 file: 0 passed, 1 failed, 1 not run\n");
  expect(status).toBe(1);
});

describe("a file that cannot be used is a usage error of one line", () => {
  test.each([
    ["assertions:\n  assertTrue:\n    - doc:a#view\n", "file.yaml:4:7: "],
    ["relationships: |\n  doc:a.b#owner@user:ann\n", "file.yaml:3:3: "],
    ["relationships: |\n  doc:a#owner@user:ann\n  doc:a#owner@user:ann\n", "file.yaml:4:3: "],
    ["relationships: [\n", "file.yaml:3:1: "],
  ])("%j", (text, place) => {
    const { status, stdout, stderr } = run("test", validation("file.yaml", text));
    expect(stderr).toMatch(/^svc-access: [^\n]*\n$/);
    expect(stderr).toContain(place);
    expect(stdout).toBe("");
    expect(status).toBe(2);
  });

  test("a wrong schema, in the file and in another one", () => {
    const inline = write(
      "inline.yaml",
      "relationships: ''\nschema: |+\n\n  definition user {}\n\n  definition doc {\n    relation owner: usr\n  }\n",
    );
    expect(run("test", inline).stderr).toMatch(/^svc-access: inline\.yaml:7:21: /);
    const folded = write(
      "folded.yaml",
      "schema: >-\n  definition user {}\n\n\n  definition doc {\n    relation owner: usr\n  }\n",
    );
    expect(run("test", folded).stderr).toMatch(/^svc-access: folded\.yaml:6:21: /);
    write("wrong.zed", "definition doc {\n  relation owner: usr\n}\n");
    const beside = run("test", write("beside.yaml", "schemaFile: wrong.zed\n"));
    expect(beside.stderr).toMatch(/^svc-access: wrong\.zed:2:19: /);
    expect(beside.status).toBe(2);
  });

  test.each([
    ["a model", DOCUMENTS],
    ["a model after comments", `/* Who\n * may what */\n// and how\n${DOCUMENTS}`],
  ])("%s in place of a validation file", (_title, text) => {
    const { status, stderr } = run("test", write("model.zed", text));
    expect(status).toBe(2);
    expect(stderr).toContain("model.zed:1:1");
    expect(stderr).toContain(
      "this is a model, not a validation file; svc-access model check checks a model\n",
    );
  });

  test("missing files", () => {
    expect(run("test", "missing.yaml").stderr).toBe(
      "svc-access: the validation file missing.yaml does not exist; create it, or name another file\n",
    );
    const name = write("beside.yaml", "schemaFile: missing.zed\n");
    expect(run("test", name)).toMatchObject({
      status: 2,
      stderr:
        "svc-access: beside.yaml:1:13: schemaFile missing.zed does not exist; create it, or name another file\n",
    });
    expect(run("test").status).toBe(2);
  });
});

test("unknown keys are noted", () => {
  const { status, stderr } = run("test", validation("typo.yaml", "assertion: {}\n"));
  expect(stderr).toBe(
    'svc-access: typo.yaml:2:1: assertion is not a known key; did you mean "assertions"?\n',
  );
  expect(status).toBe(0);
});
