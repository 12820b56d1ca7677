/** Text of a source never becomes code in generated files. */
import { stripTypeScriptTypes } from "node:module";
import { extname } from "node:path";
import { describe, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { HTTP_EXTENSION, POLICY_EXTENSION } from "../../src/api/policy.ts";
import { generate } from "../../src/compiler/generate.ts";
import type { Platform } from "../../src/compiler/platform.ts";
import { readAndCheck } from "../../src/compiler/read-and-check.ts";
import { TARGETS } from "../../src/compiler/targets.ts";
import type { PlatformConfig } from "../../src/config/config.ts";
import { commentLines, commentText, literal, propertyKey } from "../../src/emit/source-text.ts";
import { DEFINITION, encode, encodeFile, HTTP_DEFINITION, methodOf } from "../api/descriptors.ts";

const LINE_ENDS = ["\n", "\r", "\r\n", "\u2028", "\u2029"];
const HIDING = [
  "\u0000",
  "\u001b[2J",
  "\u0085",
  "\u202e",
  "\u2066",
  "\u200b",
  "\ufeff",
  "\u{e0041}",
];

function platformOf(config?: object): Platform {
  const loaded = { config: config as PlatformConfig, file: "svc-access.yaml", locate: () => ({}) };
  return {
    config: config === undefined ? undefined : (loaded as unknown as Platform["config"]),
    modelDiagnostics: [],
    modelOf: () => undefined,
  };
}

/** The readers of generated files without code, by the end of their names: what cannot be read fails. */
const READERS: Readonly<Record<string, (content: string) => unknown>> = {
  ".json": JSON.parse,
  ".yaml": (content) => parseAllDocuments(content).map((document) => document.toJS()),
};

/** The code of all targets for a file with this name and this comment at its RPC. */
async function generated(
  name: string,
  comment = "",
  config?: object,
  types: object = { messageType: [{ name: "Request" }, { name: "Response" }] },
): Promise<string[]> {
  const policy = encode([1, 0], [4, encode([1, 1])]);
  const http = encode([2, "/v1/things"]);
  const method = methodOf("Get", [POLICY_EXTENSION, policy], [HTTP_EXTENSION, http]);
  const bytes = encodeFile({
    name,
    package: "a.v1",
    ...types,
    service: [{ name: "S", method: [method] }],
    sourceCodeInfo: {
      location: [{ path: [6, 0, 2, 0], span: [4, 2, 9], leadingComments: comment }],
    },
  });
  const platform = platformOf(config);
  const checked = readAndCheck(
    [[DEFINITION, ...HTTP_DEFINITION, { bytes, target: true }]],
    platform,
    [],
  );
  const { files } = await generate(checked, platform, { targets: TARGETS, importOptions: [] });
  const code = files.filter((file) => file.name.endsWith(".ts"));
  for (const file of files.filter((one) => !code.includes(one))) {
    const read = READERS[extname(file.name)];
    if (read === undefined) throw new Error(`${file.name}: add how it is read to READERS`);
    read(file.content);
  }
  return code.map(({ content }) => content);
}

const CLIENT = {
  services: { b: { packages: ["b.v1"] } },
  clients: ["a.v1"],
  frontends: {},
  paths: [],
};

/** The code of a file, without its comments. */
function codeOf(content: string): string {
  const code = stripTypeScriptTypes(content, { mode: "transform" });
  const texts = /"(?:[^"\\\n]|\\.)*"/g;
  return code
    .replaceAll(
      /\/\*[^]*?\*\/|\/\/[^\n\r\u2028\u2029]*|("(?:[^"\\\n]|\\.)*")/g,
      (_, text = "") => text,
    )
    .replaceAll(texts, '""');
}

describe("a file name with line breaks or hidden characters is rejected", () => {
  test.each([...LINE_ENDS, ...HIDING])("%j", async (character) => {
    const name = `a${character}injected();${character}/*x.proto`;
    await expect(generated(name)).rejects.toThrow("is not a valid name of a file");
    const message = await generated(name).catch(({ message }: Error) => message);
    expect(message).not.toContain(character);
  });
});

describe("a type with a name that no compiler allows is refused by name", () => {
  const request = { name: "Request" };
  const response = { name: "Response" };
  test.each(["", "a b", "..", "1x", "a.b", "a-b", "a/b", "*/", "`${x}`", "ünï", ...LINE_ENDS])(
    "%j",
    async (name) => {
      const messageType = [request, response];
      const zero = { name: "ZERO", number: 0 };
      for (const [what, types] of [
        ["a message", { messageType: [...messageType, { name }] }],
        ["a message", { messageType: [{ ...request, nestedType: [{ name }] }, response] }],
        ["an enum", { messageType, enumType: [{ name, value: [zero] }] }],
        [
          "an enum",
          { messageType: [{ ...request, enumType: [{ name, value: [zero] }] }, response] },
        ],
      ] as const) {
        await expect(generated("a.proto", "", undefined, types)).rejects.toThrow(
          ` of a.proto is not a valid name of ${what}`,
        );
      }
    },
  );

  test.each([
    "class",
    "constructor",
    "__proto__",
    "toString",
    "Object",
    "Error",
    "x".repeat(5_000),
  ])("%s is one that a compiler allows", async (name) => {
    const messageType = [{ name: "Request", nestedType: [{ name }] }, { name: "Response" }];
    const contents = await generated("a.proto", "", undefined, { messageType });
    expect(contents.length).toBeGreaterThan(0);
  });
});

describe("the name of a file never becomes code", () => {
  test.each([
    "a*/injected();/*x.proto",
    'a"+injected()+"x.proto',
    "a'+injected()+'x.proto",
    "a`${injected()}`x.proto",
    "a\\x.proto",
    "{{injected()}}.proto",
    "$&$1injected().proto",
  ])("%j", async (name) => {
    for (const config of [undefined, CLIENT]) {
      const contents = await generated(name, "", config);
      expect(contents.length).toBeGreaterThan(0);
      for (const content of contents) expect(codeOf(content)).not.toContain("injected");
    }
  });
});

describe("the comment of an RPC never becomes code, and hides none [COMP-7]", () => {
  test.each([
    "*/ injected(); /*",
    "**/ injected(); /**",
    ...[...LINE_ENDS, ...HIDING].map((end) => ` a${end}*/injected();${end}/* b`),
    "\u00010\u0001 */ injected() /*",
  ])("%j", async (comment) => {
    for (const content of await generated("a.proto", comment)) {
      expect(codeOf(content)).not.toContain("injected");
      expect(content).not.toMatch(
        /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/,
      );
    }
  });

  test("allowed characters in comments stay unchanged", () => {
    expect(commentLines(" ## Größe\t‏עברית\r\n  👩‍🚀 :: x")).toEqual([
      " ## Größe\t‏עברית",
      "  👩‍🚀 :: x",
    ]);
  });
});

test.each([...LINE_ENDS, ...HIDING, "\ud800"])("text in a literal is escaped: %j", (character) => {
  const text = `a${character}b`;
  for (const written of [literal(text, { depth: 0 }), propertyKey(text)]) {
    expect(written).toMatch(/^"[\x20-\x7e]*"$/);
    expect(JSON.parse(written)).toBe(text);
  }
  expect(commentText(text)).toMatch(/^[\x20-\x7e]*$/);
});
