/** Unusable input: one clear line, the right exit code, no stack trace, no file. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  CodeGeneratorRequestSchema,
  CodeGeneratorResponseSchema,
  FileDescriptorSetSchema,
} from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Outcome, runProgram } from "../support/programs.ts";
import { runSvcAccess } from "../support/svc-access.ts";
import { Workspace } from "../support/workspace.ts";

const PROTO = `syntax = "proto3";
package things.v1;
import "svc/access/v1/policy.proto";
service ThingService {
  rpc Get(Thing) returns (Thing) { option (svc.access.v1.policy).exposure = PUBLIC; }
}
message Thing { string id = 1; }
`;

let workspace: Workspace;
let image: string;
let request: Uint8Array;

beforeAll(() => {
  workspace = new Workspace({ "things/v1/things.proto": PROTO });
  const bytes = workspace.build();
  image = join(workspace.folder, "image.binpb");
  writeFileSync(image, bytes);
  request = toBinary(
    CodeGeneratorRequestSchema,
    create(CodeGeneratorRequestSchema, {
      fileToGenerate: ["things/v1/things.proto"],
      protoFile: fromBinary(FileDescriptorSetSchema, bytes).file,
    }),
  );
});

afterAll(() => workspace[Symbol.dispose]());

function svcAccess(...args: string[]): Outcome {
  return runSvcAccess(args, { cwd: workspace.folder });
}

function plugin(parameter: string): { error: string; files: number } {
  const message = fromBinary(CodeGeneratorRequestSchema, request);
  message.parameter = parameter;
  return pluginOn(toBinary(CodeGeneratorRequestSchema, message));
}

function pluginOn(input: Uint8Array): { error: string; files: number } {
  const path = join(workspace.folder, "response.binpb");
  const { status, stdout } = runProgram("sh", ["-c", `protoc-gen-svc-access > '${path}'`], {
    cwd: workspace.folder,
    input,
  });
  expect({ status, stdout }).toEqual({ status: 0, stdout: "" });
  const response = fromBinary(CodeGeneratorResponseSchema, readFileSync(path));
  return { error: response.error, files: response.file.length };
}

describe("the protoc plugin", () => {
  test.each<[string, () => Uint8Array, string]>([
    ["an empty request", () => new Uint8Array(), "names no file"],
    [
      "a truncated request",
      () => request.slice(0, request.length - 7),
      "is not a CodeGeneratorRequest",
    ],
    ["text", () => Buffer.from("hello, plugin"), "is not a CodeGeneratorRequest"],
    ["an image", () => readFileSync(image), "CodeGeneratorRequest"],
  ])("refuses %s", (_, input, message) => {
    const { error, files } = pluginOn(input());
    expect(error).toContain(message);
    expect(error.split("\n")).toHaveLength(1);
    expect(files).toBe(0);
  });

  test.each([
    ["targets=routes", 'unknown option "targets"; did you mean "target"?'],
    [
      "target=route",
      'unknown target "route"; the targets are routes, policies, server, gateway; did you mean "routes"?',
    ],
    ["target", 'option "target" needs a value'],
    ["nonsense", 'unknown option "nonsense"; the options are config'],
    ["import_extension=mjs", 'import_extension must be one of none, js, ts, not "mjs"'],
    ["config=a.yaml,config=b.yaml", 'option "config" is set twice'],
    ["config=missing.yaml", "the configuration missing.yaml does not exist"],
    ["config=proto", "the configuration proto is a folder"],
    ["model=missing.zed", "the model missing.zed does not exist"],
  ])("refuses the option %s", (parameter, message) => {
    const { error, files } = plugin(parameter);
    expect(error).toContain(message);
    expect(error.split("\n")).toHaveLength(1);
    expect(files).toBe(0);
  });

  test("explains itself if a person starts it", () => {
    const { status, stderr } = runProgram("protoc-gen-svc-access", ["--help"]);
    expect(status).toBe(0);
    expect(stderr).toContain("buf.gen.yaml");
  });
});

describe("the command line", () => {
  test.each<[string, readonly string[], string]>([
    ["a missing folder", ["lint", "nowhere"], "nowhere does not exist"],
    ["a file that is not an image", ["lint", "text.binpb"], "text.binpb is not a buf image"],
    ["an empty image", ["lint", "empty.binpb"], "empty.binpb is not a buf image (it is empty)"],
    ["a broken gzip", ["lint", "broken.binpb.gz"], "broken.binpb.gz is not a gzip file"],
    ["an unknown command", ["lnit", "."], 'unknown command "lnit"; did you mean'],
    ["an unknown flag", ["lint", ".", "--strickt"], 'unknown option "--strickt"; did you mean'],
    [
      "an unknown format",
      ["lint", ".", "--format", "xml"],
      "Allowed choices are text, json, github-actions, sarif",
    ],
    ["no input", ["lint"], "missing required argument 'input': pass . for"],
    ["an empty input", ["lint", ""], "an input is empty: pass . for"],
    ["an empty configuration", ["lint", ".", "--config", ""], "--config is empty: name a file"],
    ["an empty model", ["lint", ".", "--model", ""], "--model is empty: name a file"],
    [
      "a file without protos",
      ["lint", "package.json"],
      "package.json has no protos: pass the folder of the protos, such as .",
    ],
    [
      "an unknown target",
      ["generate", "image.binpb", "--out", "o", "--target", "all"],
      "Allowed choices are routes",
    ],
    [
      "a missing configuration",
      ["lint", "image.binpb", "--config", "no.yaml"],
      "the configuration no.yaml does not exist",
    ],
    [
      "a malformed configuration",
      ["lint", "image.binpb", "--config", "bad.yaml"],
      "bad.yaml:2:1: modle is not a key",
    ],
    [
      "a configuration that is not text",
      ["lint", "image.binpb", "--config", "image.binpb"],
      "is not UTF-8 text",
    ],
    [
      "a missing model",
      ["lint", "image.binpb", "--model", "no.zed"],
      "the model no.zed does not exist",
    ],
    ["a malformed model", ["lint", "image.binpb", "--model", "bad.zed"], "bad.zed:1:"],
    [
      "an unwritable folder",
      ["generate", "image.binpb", "--out", "text.binpb/out"],
      "cannot be written, so no file was written",
    ],
    [
      "an output that is a folder",
      ["generate", "image.binpb", "--out", "taken", "--target", "policies"],
      "policies.json is a folder",
    ],
    ["an unknown RPC", ["explain", "image.binpb", "Gte"], "did you mean"],
    ["an empty RPC", ["explain", "image.binpb", ""], "the name of the RPC is empty"],
    ["protos that do not compile", ["lint", "wrong"], "buf cannot build wrong"],
  ])("refuses %s", (_, args, message) => {
    workspace.write("text.binpb", "hello");
    workspace.write("package.json", "{}");
    workspace.write("empty.binpb", "");
    writeFileSync(join(workspace.folder, "broken.binpb.gz"), new Uint8Array([0x1f, 0x8b, 1, 2]));
    workspace.write("bad.yaml", "environment: test\nmodle: x\n");
    workspace.write("bad.zed", "definition {");
    workspace.write("wrong/a.proto", "syntax = 'proto3'; message {");
    mkdirSync(join(workspace.folder, "taken/policies.json"), { recursive: true });
    const { status, stdout, stderr } = svcAccess(...args);
    expect(stderr).toContain(message);
    expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
    expect(stderr).not.toMatch(/^\s+at /m);
    expect(readdirSync(join(workspace.folder, "taken"))).toEqual(["policies.json"]);
  });

  test("a folder without write permission gets no file", () => {
    // root may write everywhere.
    if (process.getuid?.() === 0) return;
    const folder = mkdtempSync(join(tmpdir(), "svc-access-readonly-"));
    chmodSync(folder, 0o500);
    expect(svcAccess("generate", "image.binpb", "--out", folder).status).toBe(2);
    expect(readdirSync(folder)).toEqual([]);
    rmSync(folder, { recursive: true });
  });

  test("findings stop a generation before its first file [COMP-2]", () => {
    using broken = new Workspace({ "a.proto": PROTO.replace(/\{ option.*\}/, "{}") });
    const { status, stderr } = runSvcAccess(["generate", ".", "--out", "out"], {
      cwd: broken.folder,
    });
    expect(status).toBe(1);
    expect(stderr).toContain("proto/a.proto:5:3: Get has no access policy");
    expect(existsSync(join(broken.folder, "out"))).toBe(false);
  });

  test("--help shows examples and exit codes", () => {
    for (const args of [
      ["--help"],
      ["lint", "--help"],
      ["generate", "--help"],
      ["explain", "--help"],
    ]) {
      const { status, stdout } = svcAccess(...args);
      expect(status).toBe(0);
      expect(stdout).toContain("Examples:");
    }
  });
});

describe("the check plugin", () => {
  test.each([
    [["--protocol"], 0, "1\n"],
    [["--spec", "--format", "json"], 0, "/buf.plugin.check.v1.CheckService/Check"],
    [["/no/such/Procedure", "--format", "binary"], 2, ""],
    [[], 2, ""],
  ])("answers %j with %i", (args, status, stdout) => {
    const outcome = runProgram("buf-plugin-svc-access", args);
    expect(outcome.status).toBe(status);
    expect(outcome.stdout).toContain(stdout);
  });

  test.each([
    ["an empty request", new Uint8Array()],
    ["text", Buffer.from("no request")],
  ])("survives %s", (_, input) => {
    const { status, stderr } = runProgram(
      "buf-plugin-svc-access",
      ["/buf.plugin.check.v1.CheckService/Check", "--format", "binary"],
      { input, cwd: workspace.folder },
    );
    expect({ status, stderr: stderr.replace(/^svc-access: .*\n/gm, "") }).toEqual({
      status: 0,
      stderr: "",
    });
  });

  test("an unknown option in buf.yaml is named", () => {
    workspace.write(
      "buf.yaml",
      "version: v2\nmodules:\n  - path: proto\n  - path: vendor\nplugins:\n  - plugin: buf-plugin-svc-access\n    options: {modle: x}\n",
    );
    const { status, stderr } = runProgram("buf", ["lint", "proto"], { cwd: workspace.folder });
    expect(status).not.toBe(0);
    expect(stderr).toContain('unknown option "modle"');
    expect(stderr).toContain('did you mean "model"?');
  });
});

test("a file with 10,000 RPCs, and names in other scripts", () => {
  const rpcs = Array.from(
    { length: 10_000 },
    (_, index) =>
      `rpc Get${index}(Thing) returns (Thing) { option (svc.access.v1.policy).exposure = PUBLIC; }`,
  ).join("\n");
  using large = new Workspace({
    "große/файл-物.proto": `syntax = "proto3"; package large.v1; import "svc/access/v1/policy.proto"; message Thing {} service S {\n${rpcs}\nrpc Last(Thing) returns (Thing);\n}`,
  });
  const { status, stdout } = runSvcAccess(["lint", "proto"], { cwd: large.folder });
  expect(status).toBe(1);
  expect(stdout).toContain("proto/große/файл-物.proto:10002:1: Last has no access policy");
  expect(stdout).toContain("10001 RPCs: 1 error");
});
