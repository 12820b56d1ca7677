/** A run that has, or may have, only some of the files makes no output that needs all of them. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create, toBinary } from "@bufbuild/protobuf";
import { CodeGeneratorRequestSchema } from "@bufbuild/protobuf/wkt";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readCodeGeneratorRequest } from "../../src/api/descriptors/code-generator-request.ts";
import { DEFAULT_TARGETS } from "../../src/compiler/targets.ts";
import { loadConfig } from "../../src/config/load-config.ts";
import { type PluginOptions, parsePluginOptions } from "../../src/plugin/options.ts";
import { refusePartialRun } from "../../src/plugin/partial-run.ts";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "svc-access-partial-"));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

const template = (strategy: string) => `version: v2
plugins:
  - local: protoc-gen-es
    strategy: all
    out: gen
  - local: protoc-gen-svc-access
    out: gen
${strategy}`;

const config = (text: string) => loadConfig(text, "svc-access.yaml", {}).loaded?.config;

const HUB = "services: {hub: {packages: [a.v1, b.v1]}}";

interface Run {
  readonly asked: readonly string[];
  /** Files that are only imported. */
  readonly imported?: readonly string[];
  readonly compiler?: "protoc" | "buf";
  readonly options?: string;
  readonly config?: string;
  readonly template?: string;
}

/** Each file declares a service, in the package of its folder. */
async function check({ asked, imported = [], compiler = "buf", ...run }: Run): Promise<void> {
  if (run.template !== undefined) writeFileSync(join(folder, "buf.gen.yaml"), run.template);
  const request = create(CodeGeneratorRequestSchema, {
    fileToGenerate: [...asked],
    ...(compiler === "protoc" ? { compilerVersion: { major: 3, minor: 21 } } : {}),
    protoFile: [...imported, ...asked].map((name) => {
      const path = name.replace(/\/[^/]*$/, "").replaceAll("/", ".");
      const service = name.includes("types") ? [] : [{ name: "S" }];
      return { name, package: path, service };
    }),
  });
  const read = readCodeGeneratorRequest(toBinary(CodeGeneratorRequestSchema, request));
  const options: PluginOptions = parsePluginOptions(run.options ?? "");
  await refusePartialRun(
    read,
    options,
    run.config === undefined ? undefined : config(run.config),
    folder,
  );
}

const A = "a/v1/a.proto";
const A2 = "a/v1/other.proto";
const B = "b/v1/b.proto";

describe("is refused", () => {
  test.each<readonly [name: string, run: Run, message: string]>([
    [
      "one folder by buf, without strategy: all in the template",
      { asked: [A, A2], template: template("") },
      "buf runs this plugin once for each folder, and this run has only a/v1; routes/, policies.json, gateway/ need all files: add strategy: all to the plugin in buf.gen.yaml",
    ],
    [
      "one folder by buf, whose configuration has other packages, too",
      {
        asked: [A],
        template: template(""),
        config: "services: {hub: {packages: [a.v1]}, git: {packages: [b.v1]}}",
      },
      "once for each folder",
    ],
    [
      "one folder of a service that has two, with any template",
      { asked: [A, A2], config: HUB },
      "this run has only the folder a/v1, but the service hub also has the package b.v1 (or correct that name in svc-access.yaml)",
    ],
    [
      "one of several inputs",
      {
        asked: [A, B],
        template: `${template("    strategy: all\n")}inputs:\n  - directory: one\n  - git_repo: https://x\n`,
      },
      "buf runs this plugin once for each of the 2 inputs in buf.gen.yaml; routes/",
    ],
    [
      "one of several inputs on one line",
      {
        asked: [A, B],
        template: `inputs: [{directory: one}, {binary_image: two}]\n${template("    strategy: all\n")}`,
      },
      "each of the 2 inputs",
    ],
    [
      "one file by protoc",
      { asked: [A], compiler: "protoc" },
      "this run of protoc has only a/v1/a.proto (if there are no other files, write files=all); routes/, policies.json, gateway/ need all files: name all files in one run of protoc; or, to run protoc for each file, write files=each",
    ],
    [
      "one file by protoc, for one target",
      { asked: [A], compiler: "protoc", options: "target=policies,target=server" },
      "policies.json needs all files",
    ],
    [
      "one folder of a service that has two, by protoc",
      { asked: [A, A2], compiler: "protoc", config: HUB },
      "the service hub also has the package b.v1",
    ],
    [
      "a file whose sibling is imported, and has services",
      { asked: [A, B], imported: [A2], compiler: "protoc" },
      "this run does not include a/v1/other.proto, but generates from other files of its package a.v1",
    ],
    [
      "the same, with files=all",
      { asked: [A], imported: [A2], compiler: "protoc", options: "files=all" },
      "this run does not include a/v1/other.proto",
    ],
  ])("%s", async (_, run, message) => {
    await expect(check(run)).rejects.toThrow(message);
  });
});

const PROGRAM = "protoc-gen-svc-access";

describe("one folder is rejected if the buf template has", () => {
  test.each<readonly [name: string, text: string]>([
    ["out before local", `plugins:\n  - out: gen\n    local: ${PROGRAM}\n`],
    [
      "a command as a block list",
      `plugins:\n  - local:\n      - node\n      - --no-warnings\n      - --enable-source-maps\n      - node_modules/.bin/${PROGRAM}\n    out: gen\n`,
    ],
    ["flow style", `{version: v2, plugins: [{local: ${PROGRAM}, out: gen}]}\n`],
    ["JSON", `{"version": "v2", "plugins": [{"out": "gen", "local": ["${PROGRAM}"]}]}`],
    ["the strategy in a comment", template("    # strategy: all\n")],
    ["the strategy in an option", template("    opt: |\n      x=y\n      strategy: all\n")],
    ["the strategy of another plugin", template("  - local: protoc-gen-x\n    strategy: all\n")],
    ["a strategy that buf does not know", template("    strategy: allow\n")],
    ["an alias", `x: &own {local: ${PROGRAM}, out: gen}\nplugins: [*own]\n`],
    ["a merge", `x: &own {local: ${PROGRAM}}\nplugins:\n  - <<: *own\n    out: gen\n`],
    ["version 1", "version: v1\nplugins:\n  - plugin: svc-access\n    out: gen\n"],
    [
      "version 1 with a path",
      `version: v1\nplugins:\n  - name: x\n    path: ./${PROGRAM}\n    out: gen\n`,
    ],
    ["a program of another name", "plugins:\n  - local: [sh, tools/generate.sh]\n    out: gen\n"],
    ["a key in quotes", `"plugins":\n  - "local": "${PROGRAM}"\n    "out": gen\n`],
    ["text that is not YAML", "plugins: [\n"],
    ["a list", "- plugins\n"],
    ["plugins that are not a list", `plugins: {local: ${PROGRAM}, strategy: all}\n`],
    ["far too many aliases", bomb()],
  ])("%s", async (_, text) => {
    await expect(check({ asked: [A, A2], template: text })).rejects.toThrow(
      /^(buf runs this plugin once for each folder|whether this run has all files is unknown, since .*buf\.gen\.yaml).*add strategy: all/,
    );
  });

  function bomb(): string {
    const lines = Array.from({ length: 12 }, (_, level) => {
      return `a${level}: &a${level} [${Array(9).fill(level === 0 ? "x" : `*a${level - 1}`)}]`;
    });
    return `${lines.join("\n")}\n${template("    strategy: all\n")}`;
  }
});

test.each([
  ["out before local", `plugins:\n  - out: gen\n    strategy: all\n    local: ${PROGRAM}\n`],
  ["flow style", `plugins: [{local: [node, ${PROGRAM}], out: gen, "strategy": 'all'}]\n`],
  ["version 1", "version: v1\nplugins:\n  - {plugin: svc-access, out: gen, strategy: all}\n"],
  ["another template's plugins", "plugins:\n  - {local: [npx, protoc-gen-es], out: gen}\n"],
  [
    "plugins of others",
    "plugins:\n  - {remote: buf.build/x/y, out: a}\n  - {protoc_builtin: go}\n",
  ],
  ["nothing", ""],
])("one folder counts as all files if the buf template has %s", async (_, text) => {
  await check({ asked: [A, A2], template: text });
});

test.each([
  ["block style", "inputs:\n  - paths: [a]\n    directory: one\n  -\n    module: x/y/z\n"],
  ["quoted keys", `"inputs": [{"directory": one}, {"tarball": "two"}]\n`],
])("several inputs are rejected in %s", async (_, inputs) => {
  const run = { asked: [A, B], template: `${inputs}${template("    strategy: all\n")}` };
  await expect(check(run)).rejects.toThrow("once for each of the 2 inputs");
});

test("a template that is a folder is rejected", async () => {
  mkdirSync(join(folder, "buf.gen.yaml"));
  await expect(check({ asked: [A] })).rejects.toThrow("buf.gen.yaml cannot be read");
});

test("the template is not read if the run has all configured packages", async () => {
  const run = { asked: [A, A2], template: "[", config: "services: {hub: {packages: [a.v1]}}" };
  await check(run);
});

describe("counts as all files", () => {
  test.each<readonly [name: string, run: Run]>([
    ["one folder with strategy: all", { asked: [A], template: template("    strategy: all\n") }],
    [
      "one input with paths, and one in a comment",
      {
        asked: [A, B],
        template: `inputs:\n  - directory: one\n    exclude_paths:\n      - one/directory\n  # - directory: two\n${template("    strategy: all\n")}`,
      },
    ],
    [
      "one of several inputs that has all packages of the configuration",
      {
        asked: [A, B],
        config: HUB,
        template: `inputs: [{directory: one}, {directory: two}]\n${template("    strategy: all\n")}`,
      },
    ],
    ["two folders", { asked: [A, B], template: template("") }],
    [
      "one folder that has all packages of the configuration",
      { asked: [A], template: template(""), config: "services: {hub: {packages: [a.v1]}}" },
    ],
    ["one folder without a template to read", { asked: [A] }],
    ["all files by protoc", { asked: [A, A2, B], compiler: "protoc", config: HUB }],
    [
      "one file by protoc, with files=all",
      { asked: [A], compiler: "protoc", options: "files=all" },
    ],
    [
      "files whose sibling only has messages",
      { asked: [A, B], imported: ["a/v1/types.proto"], compiler: "protoc" },
    ],
    [
      "a file that imports a service of another package",
      { asked: [A, A2], imported: [B], compiler: "protoc" },
    ],
  ])("%s", async (_, run) => {
    await check(run);
  });
});

test.each<readonly [name: string, run: Run]>([
  ["no output spans files", { asked: [A], template: template(""), options: "target=server" }],
  ["each file is generated by itself", { asked: [A], compiler: "protoc", options: "files=each" }],
  [
    "each folder is generated by itself",
    { asked: [A], template: template(""), config: HUB, options: "files=each" },
  ],
])("no run is rejected if %s", async (_, run) => {
  await check(run);
});

describe("the option files", () => {
  test.each([
    ["files=each", { files: "each", targets: ["policies", "server"] }],
    ["files=each,target=server", { files: "each", targets: ["server"] }],
    ["files=all", { files: "all", targets: DEFAULT_TARGETS }],
    ["", { targets: DEFAULT_TARGETS }],
  ])("%s is %j", (parameter, expected) => {
    const { targets, files } = parsePluginOptions(parameter);
    expect({ targets, ...(files === undefined ? {} : { files }) }).toEqual(expected);
  });

  test.each([
    ["files=some", 'option "files" must be all or each, not "some"'],
    ["files=all,files=each", 'option "files" is set twice'],
    [
      "files=each,target=routes",
      "files=each generates from each file separately, but target=routes needs all files",
    ],
    ["files=each,target=gateway", "target=gateway needs all files"],
    ["fles=each", 'did you mean "files"?'],
  ])("%s is refused", (parameter, message) => {
    expect(() => parsePluginOptions(parameter)).toThrow(message);
  });
});
