import { describe, expect, test } from "vitest";
import { MalformedFileError } from "../../../src/diagnostics/usage-error.ts";
import { readValidationFile } from "../../../src/model/validation/read-validation-file.ts";

/** Removes a `⟦` from a text, and returns its position. */
function takeMark(marked: string): { text: string; place: string } {
  const before = marked.slice(0, marked.indexOf("⟦"));
  const line = before.split("\n").length;
  const column = before.length - before.lastIndexOf("\n");
  return { text: marked.replace("⟦", ""), place: `${line}:${column}` };
}

function messageOf(text: string): string {
  try {
    readValidationFile(text, "file.yaml");
  } catch (error) {
    expect(error).toBeInstanceOf(MalformedFileError);
    return (error as Error).message;
  }
  throw new Error("the file was read");
}

const SCHEMA = "schema: definition user {}\n";

describe("a malformed file is rejected at its position", () => {
  test.each([
    ["⟦", "the file is empty"],
    ["⟦# nothing\n", "the file is empty"],
    ["⟦- a list\n", "expected keys and values"],
    ["⟦relationships: ''\n", "the file has no schema; add schema: or schemaFile:"],
    ["schema: ⟦[a]\n", "expected text"],
    ["schema: definition user {}\nschemaFile: ⟦a.zed\n", "remove one of them"],
    [`${SCHEMA}⟦validation_tuples: []\n`, "is an obsolete key; write relationships"],
    [`${SCHEMA}⟦namespace_configs: []\n`, "is an obsolete key; write schema"],
    [`${SCHEMA}relationships:\n  ⟦- doc:a#view@user:b\n`, "expected text"],
    [`${SCHEMA}relationships: |\n  doc:a#view@user:b\n\n  ⟦doc:b\n`, "it has no @"],
    [`${SCHEMA}relationships: |\n  // a comment\n    ⟦doc:b#view@user:a.b\n`, 'object id "a.b"'],
    [`${SCHEMA}relationships: >-\n  doc:a#view@user:b\n\n  ⟦doc:b\n`, "it has no @"],
    [`${SCHEMA}relationships: "⟦doc:b"\n`, "it has no @"],
    [
      `${SCHEMA}relationships: |\n  doc:a#view@user:b\n  ⟦doc:a#view@user:b#...\n`,
      "is already on line 3; remove one of them",
    ],
    [`${SCHEMA}assertions:\n  ⟦- a\n`, "expected keys and values"],
    [`${SCHEMA}assertions:\n  assertTrue: ⟦doc:a#view@user:b\n`, "expected a list"],
    [`${SCHEMA}assertions:\n  assertTrue:\n    - ⟦"doc:a#view"\n`, "it has no @"],
    [`${SCHEMA}assertions:\n  assertTrue:\n    - ⟦{a: b}\n`, "expected text"],
    [
      `${SCHEMA}assertions:\n  assertTrue:\n    - ⟦'doc:a#view@user:b with {"a"'\n`,
      "is not a JSON object",
    ],
    [`${SCHEMA}validation:\n  ⟦doc:a: []\n`, "is not a permission of an object"],
    [
      `${SCHEMA}validation:\n  doc:a#view:\n    - ⟦"[user:b is] is <doc:a#view>"\n`,
      "is not an expected",
    ],
    [
      `${SCHEMA}validation:\n  doc:a#view:\n    - ⟦"[user:b] is <doc:a>"\n`,
      "is not an expected relation",
    ],
    [`${SCHEMA}validation:\n  doc:a#view:\n    - ⟦"[user:* - {b}] is <doc:a#view>"\n`, "no type"],
    [`${SCHEMA}⟦schema: definition user {}\n`, "map keys must be unique"],
    [`schema: |\n  definition user {}\n⟦ relationships: ''\n`, ""],
  ])("%j", (marked, reason) => {
    const { text, place } = takeMark(marked);
    const message = messageOf(text);
    expect(message.split(": ", 1)[0]).toBe(`file.yaml:${place}`);
    expect(message).toContain(reason);
    expect(message).not.toContain("\n");
  });
});

describe("a well-formed file is read", () => {
  test("with only a schema, and null for everything else", () => {
    const file = readValidationFile(
      `${SCHEMA}relationships:\nassertions: null\nvalidation:\n`,
      "file.yaml",
    );
    expect(file).toMatchObject({ relationships: [], assertions: [], expectations: [], notes: [] });
  });

  test("with assertions and their positions", () => {
    const file = readValidationFile(
      `${SCHEMA}assertions:\n  assertTrue:\n    - "doc:a#view@user:b"\n  assertFalse: [doc:a#view@user:c]\n  assertCaveated:\n    - 'doc:a#view@user:d with {"day": 1}'\n`,
      "file.yaml",
    );
    const places = file.assertions.map(({ kind, position: { line, column } }) => [
      kind,
      line,
      column,
    ]);
    expect(places).toEqual([
      ["assertTrue", 4, 7],
      ["assertFalse", 5, 17],
      ["assertCaveated", 7, 7],
    ]);
  });

  test("with each form of an expected relation", () => {
    const { expectations } = readValidationFile(
      `${SCHEMA}validation:\n  doc:a#view:\n    - "[user:b] is <doc:a#view>/<doc:a#edit>"\n    - "[group:g#member] is <doc:a#view>"\n    - "[user:* - {user:a, user:c}] is <doc:a#view>"\n    - "[user:d[...]] is <doc:a#view>"\n    - nobody\n`,
      "file.yaml",
    );
    const subjects = expectations[0]?.subjects ?? [];
    expect(subjects[0]?.paths.map(({ permission }) => permission)).toEqual(["view", "edit"]);
    expect(subjects[1]?.subject).toEqual({ type: "group", id: "g", relation: "member" });
    expect(subjects[2]).toMatchObject({
      subject: { type: "user", id: "*" },
      exceptions: [
        { type: "user", id: "a" },
        { type: "user", id: "c" },
      ],
    });
    expect(subjects[3]).toMatchObject({ subject: { type: "user", id: "d" }, caveated: true });
    expect(subjects[4]?.subject).toBeUndefined();
  });

  test("unknown keys are noted", () => {
    const text = `${SCHEMA}relationship: x\nassertions:\n  assertTru: []\n`;
    expect(readValidationFile(text, "file.yaml").notes).toEqual([
      'file.yaml:2:1: relationship is not a known key; did you mean "relationships"?',
      'file.yaml:4:3: assertTru is not a known key; did you mean "assertTrue"?',
    ]);
  });

  test("aliases are resolved", () => {
    const text = `${SCHEMA}assertions:\n  assertTrue:\n    - &one doc:a#view@user:b\n  assertFalse:\n    - *one\n`;
    const { assertions } = readValidationFile(text, "file.yaml");
    expect(assertions.map(({ text, position: { line } }) => [text, line])).toEqual([
      ["doc:a#view@user:b", 4],
      ["doc:a#view@user:b", 6],
    ]);
  });
});
