import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { parse } from "yaml";
import { runProgram } from "../support/programs.ts";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "svc-access-init-"));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

test("the three files are written", () => {
  const { status, stdout } = runProgram("svc-access", ["init"], { cwd: folder });
  expect(status).toBe(0);
  for (const name of ["buf.yaml", "buf.gen.yaml", "svc-access.yaml"]) {
    expect(stdout).toContain(`${name} written`);
    expect(readFileSync(join(folder, name), "utf8")).not.toBe("");
  }
});

test("no file is written over, and what it lacks is shown", () => {
  writeFileSync(join(folder, "buf.yaml"), "version: v2\n");
  const { status, stdout } = runProgram("svc-access", ["init", "."], { cwd: folder });
  expect(status).toBe(0);
  expect(readFileSync(join(folder, "buf.yaml"), "utf8")).toBe("version: v2\n");
  expect(stdout).toContain("buf.yaml exists and is left as it is");
  expect(stdout).toContain("Add to buf.yaml:");
  expect(stdout).toContain("plugin: buf-plugin-svc-access");
  expect(stdout).toContain("svc-access.yaml written");
});

test("with googleapis from elsewhere, only our own protos are included", () => {
  runProgram("svc-access", ["init", "--googleapis"], { cwd: folder });
  const copies = join(folder, "third_party/svc-access");
  expect(existsSync(join(copies, "svc/access/v1/policy.proto"))).toBe(true);
  expect(existsSync(join(copies, "google"))).toBe(false);
});

test("a folder that cannot be written is a usage error", () => {
  writeFileSync(join(folder, "file"), "");
  const { status, stderr } = runProgram("svc-access", ["init", "file"], { cwd: folder });
  expect(status).toBe(2);
  expect(stderr).toMatch(/^svc-access: file cannot be written: [^\n]*\n$/);
});

test("the next steps name what npx would otherwise fetch from somebody else, and the kind of module", () => {
  const bare = runProgram("svc-access", ["init"], { cwd: folder }).stdout;
  expect(bare).toContain("npm install --save-dev typescript @types/node\n");
  expect(bare).toContain("npm pkg set type=module\n");
  mkdirSync(join(folder, "node_modules/typescript"), { recursive: true });
  writeFileSync(join(folder, "package.json"), '{"type": "module"}');
  const installed = runProgram("svc-access", ["init"], { cwd: folder }).stdout;
  expect(installed).not.toContain("npm ");
  expect(installed).toContain("npx tsc\n");
});

test.each([
  {
    name: "other plugins only",
    text: "version: v2\nplugins:\n  - local: protoc-gen-go\n    out: go\n",
    shown: ["local: protoc-gen-es\n    out: gen\n", "protoc-gen-svc-access\n    out: gen\n"],
    notShown: ["protoc-gen-go", "So that Node"],
  },
  {
    name: "protoc-gen-es with .js imports, in a folder of its own",
    text: "version: v2\nplugins:\n  - local: [npx, protoc-gen-es]\n    out: src/gen\n    opt: target=ts,import_extension=js\n",
    shown: [
      "out: src/gen\n",
      "import_extension=js\n",
      "give npx protoc-gen-es the options import_extension=ts, erasable_syntax=true",
    ],
    notShown: ["local: protoc-gen-es"],
  },
  {
    name: "the remote plugin with all options",
    text: "version: v2\nplugins:\n  - remote: buf.build/bufbuild/es\n    out: gen\n    opt: [target=ts, import_extension=ts, erasable_syntax=true]\n",
    shown: ["protoc-gen-svc-access"],
    notShown: ["So that Node", "local: protoc-gen-es"],
  },
  {
    name: "ours",
    text: "version: v2\nplugins:\n  - local: protoc-gen-svc-access\n    out: gen\n",
    shown: ["buf.gen.yaml exists and is left as it is"],
    notShown: ["Add to buf.gen.yaml"],
  },
])("a buf.gen.yaml with $name is left as it is, and what it lacks is shown", (row) => {
  writeFileSync(join(folder, "buf.gen.yaml"), row.text);
  const { status, stdout } = runProgram("svc-access", ["init"], { cwd: folder });
  expect(status).toBe(0);
  expect(readFileSync(join(folder, "buf.gen.yaml"), "utf8")).toBe(row.text);
  for (const text of row.shown) expect(stdout).toContain(text);
  for (const text of row.notShown) expect(stdout).not.toContain(text);
});

test.each(["version: v1\n", "plugins: [", ""])(
  "a buf.gen.yaml of %j is refused, and nothing is written",
  (text) => {
    writeFileSync(join(folder, "buf.gen.yaml"), text);
    const { status, stderr } = runProgram("svc-access", ["init"], { cwd: folder });
    expect(status).toBe(2);
    expect(stderr).toContain("buf.gen.yaml");
    expect(existsSync(join(folder, "third_party"))).toBe(false);
  },
);

test.each([
  ["a part without a value", "version: v2\nmodules:\nplugins:\nlint:\n  use:\n", []],
  [
    "flow style",
    "{version: v2, modules: [{path: api}], lint: {use: [STANDARD]}}\n",
    ["{ path: api }"],
  ],
  [
    "an alias",
    "version: v2\nmodules:\n  - path: api\n    lint: &l\n      use: [MINIMAL]\n      except: [A_B]\n  - path: web\n    lint: *l\n",
    ["lint:\n      use:\n        - MINIMAL\n        - ACCESS\n      except:"],
  ],
  [
    "a name",
    "version: v2\nname: buf.build/acme/x\n",
    ["- path: .\n    name: buf.build/acme/x\n", "remove name at the top"],
  ],
  ["a comment", "version: v2\nlint:\n  # why\n  use: [BASIC] # so\n", ["# why"]],
])("what a buf.yaml with %s lacks is valid YAML with what it has", (_, text, shown) => {
  writeFileSync(join(folder, "buf.yaml"), text);
  const { stdout } = runProgram("svc-access", ["init"], { cwd: folder });
  const parts = /Add to buf\.yaml:\n\n([\s\S]*?)\n\n(?:Next|and remove)/.exec(stdout)?.[1] ?? "";
  expect(parts).not.toMatch(/[&*]a\d/);
  const { modules, plugins, lint } = parse(parts);
  expect(modules).toContainEqual({
    path: "third_party/svc-access",
    lint: { ignore: ["third_party/svc-access"] },
    breaking: { ignore: ["third_party/svc-access"] },
  });
  expect(plugins).toEqual([
    { plugin: "buf-plugin-svc-access", options: { config: "svc-access.yaml" } },
  ]);
  expect(lint.use).toContain("ACCESS");
  for (const part of shown) expect(stdout).toContain(part);
});
