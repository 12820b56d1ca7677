import { describe, expect, test } from "vitest";
import { fileName } from "../../src/api/descriptors/code-generator-request.ts";
import type { DescriptorFile } from "../../src/api/descriptors/file-outline.ts";
import { readImage } from "../../src/api/descriptors/image.ts";
import { readApi } from "../../src/compiler/read/read-api.ts";
import { type LoadedConfig, loadConfig } from "../../src/config/load-config.ts";
import { parseModel } from "../../src/model/index.ts";
import { checkApi } from "../../src/rules/check-api.ts";
import type { Rule } from "../../src/rules/rule.ts";
import { Workspace } from "../support/workspace.ts";
import { markedPlaces, withoutMarks } from "./marks.ts";

/**
 * Input that a rule has nothing to say about.
 *
 * In every text, `CASE` stands for a name that no other case has.
 */
export interface ValidCase {
  /** What the case shows; its RPCs where absent. */
  readonly name?: string;
  /** RPCs, the content of the service `S`. */
  readonly rpcs: string;
  /** The package; `CASE.v1` where absent. */
  readonly package?: string;
  /** The first line of the file; proto3 where absent. */
  readonly syntax?: string;
  /** What stands after the service: messages, further services. */
  readonly declarations?: string;
  /** RPCs of a service `S` in a second file, whose package is `CASE.other.v1`. */
  readonly otherRpcs?: string;
  /** `svc-access.yaml`. */
  readonly config?: string;
}

/** Input that a rule finds something wrong with. `⟦` stands before each place that a finding must have. */
export interface InvalidCase extends ValidCase {
  /** What the messages must hold, in the order of the places: of the file, the second file, the configuration. */
  readonly messages: readonly string[];
}

/** The table of a rule. */
export interface RuleTable {
  /** What the table shows of `docs/requirements.md`, with the ids in brackets at the end. */
  readonly shows?: string;
  readonly valid: readonly (string | ValidCase)[];
  readonly invalid: readonly InvalidCase[];
  /** The authorization model; absent, the rule runs without one. */
  readonly model?: string;
}

const PRELUDE = "prelude.proto";
const CONFIG = "svc-access.yaml";

/** What the cases may refer to. It has no package, so that its names are known in each. */
const PRELUDE_TEXT = `
syntax = "proto3";
message Inner { string id = 1; Inner inner = 2; repeated Inner list = 3; int64 number = 4; }
enum Color { COLOR_UNSPECIFIED = 0; COLOR_RED = 1; }
message Request {
  string id = 1; int32 number = 2; Color color = 3; bool flag = 4; double ratio = 5; bytes data = 6;
  Inner inner = 7; repeated string names = 8; map<string, string> labels = 9;
  oneof choice { string left = 10; uint64 right = 11; } optional string maybe = 12; string parent = 13;
}
message Response { string id = 1; Inner inner = 2; }
`;

/** A text of a case, with its marks, by the name of the file. */
type Texts = Readonly<Record<string, string>>;

/** Runs a rule over a table: every case by itself, all compiled at once. */
export function testRule(rule: Rule, table: RuleTable): void {
  const valid = table.valid.map((entry): InvalidCase => {
    return { ...(typeof entry === "string" ? { rpcs: entry } : entry), messages: [] };
  });
  const cases = [...valid, ...table.invalid].map((entry, index) => {
    const protos = protosOf(entry, `case${index}`);
    const config = entry.config?.replaceAll("CASE", `case${index}`);
    return {
      ...entry,
      messages: entry.messages.map((message) => message.replaceAll("CASE", `case${index}`)),
      protos,
      texts: config === undefined ? protos : { ...protos, [CONFIG]: config },
    };
  });
  describe(table.shows === undefined ? rule.id : `${rule.id}: ${table.shows}`, () => {
    const files = compile(Object.assign({}, ...cases.map(({ protos }) => protos)));
    const parsed = table.model === undefined ? undefined : parseModel(table.model, "model.zed");
    expect(parsed?.diagnostics ?? []).toEqual([]);
    for (const { name, rpcs, messages, protos, texts } of cases) {
      const title = name ?? rpcs.trim().replace(/\s+/g, " ");
      test(`${messages.length === 0 ? "accepts" : "refuses"} ${title}`, () => {
        const own = files.filter(
          (file) => !file.target || Object.hasOwn(protos, fileName(file.bytes)),
        );
        const { api, locator } = readApi([own], configOf(texts));
        const { diagnostics } = checkApi(api, locator, parsed?.model, [rule]);
        const found = diagnostics.map(({ file, line, column, message }) => {
          return { place: `${file}:${line}:${column}`, message };
        });
        const expected = marksOf(texts).map((place, index) => {
          return {
            place,
            message: expect.stringContaining(messages[index] ?? "no message is given"),
          };
        });
        expect(found).toEqual(expected);
        expect(found).toHaveLength(messages.length);
        expect(diagnostics.every((diagnostic) => diagnostic.rule === rule.id)).toBe(true);
      });
    }
  });
}

function protosOf(entry: ValidCase, name: string): Texts {
  const { rpcs, otherRpcs, syntax = 'syntax = "proto3";', declarations = "" } = entry;
  const source = (packageName: string, content: string, behind = "") =>
    [
      syntax,
      `package ${packageName};`,
      `import "${PRELUDE}";`,
      'import "google/api/annotations.proto";',
      'import "svc/access/v1/policy.proto";',
      `service S {\n${content}\n}\n${behind}`,
    ]
      .join("\n")
      .replaceAll("CASE", name);
  const protos = { [`${name}.proto`]: source(entry.package ?? "CASE.v1", rpcs, declarations) };
  return otherRpcs === undefined
    ? protos
    : { ...protos, [`${name}_other.proto`]: source("CASE.other.v1", otherRpcs) };
}

/** The files of the image; those that a case wrote are its targets. */
function compile(protos: Texts): DescriptorFile[] {
  const sources = Object.entries(protos).map(([name, text]) => [name, withoutMarks(text)]);
  using workspace = new Workspace({ ...Object.fromEntries(sources), [PRELUDE]: PRELUDE_TEXT });
  return readImage(workspace.build(), "the test's image").map(({ bytes, target }) => {
    return { bytes, target: target && fileName(bytes) !== PRELUDE };
  });
}

function configOf(texts: Texts): LoadedConfig | undefined {
  const text = texts[CONFIG];
  if (text === undefined) return undefined;
  const result = loadConfig(withoutMarks(text), CONFIG, {});
  if (result.loaded === undefined) throw new Error(JSON.stringify(result.diagnostics));
  return result.loaded;
}

/** The places of the marks, as `file:line:column`. */
function marksOf(texts: Texts): string[] {
  return Object.entries(texts).flatMap(([file, text]) =>
    markedPlaces(text).map((place) => `${file}:${place}`),
  );
}
