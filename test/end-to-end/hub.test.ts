/** The example repository has no findings and no drift, and each run gives the same result. */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  CodeGeneratorRequestSchema,
  CodeGeneratorResponseSchema,
  type FileDescriptorProto,
  FileDescriptorSetSchema,
} from "@bufbuild/protobuf/wkt";
import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runProtocPlugin } from "../../src/plugin/protoc-plugin.ts";
import { runs } from "../support/effort.ts";
import { BIN, runProgram } from "../support/programs.ts";
import { ROOT } from "../support/workspace.ts";

const HUB = join(ROOT, "examples/hub");
const GENERATED = /^(routes|gateway)\/|^policies\.json$|_(access|server)\.ts$/;
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "svc-access-hub-"));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("buf lint is clean", () => {
  expect(runProgram("buf", ["lint"], { cwd: HUB })).toMatchObject({ status: 0, stdout: "" });
});

test("svc-access lint has no findings, even with --strict", () => {
  const { status, stdout, stderr } = runProgram("svc-access", ["lint", "--strict", "."], {
    cwd: HUB,
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  expect(stdout).toMatch(/^\d+ RPCs: 0 errors, 0 warnings\n$/);
});

test("buf generate makes the committed files [PLAT-2]", () => {
  const repo = join(folder, "drift");
  cpSync(HUB, repo, {
    recursive: true,
    filter: (path) => !path.startsWith(join(HUB, "node_modules")),
  });
  for (const name of ["proto", "model"]) {
    cpSync(join(ROOT, name), join(repo, "node_modules/svc-access", name), { recursive: true });
  }
  const committed = readFolder(join(HUB, "gen"));
  const { status, stderr } = runProgram("buf", ["generate"], { cwd: repo });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  expect(readFolder(join(repo, "gen"))).toEqual(committed);
});

test("svc-access generate makes the same files as buf generate", () => {
  const out = join(folder, "without-buf");
  const { status, stderr } = runProgram(
    "svc-access",
    ["generate", ".", "--out", out, "--import-extension", "ts"],
    { cwd: HUB },
  );
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  const ours = Object.entries(readFolder(join(HUB, "gen"))).filter(([name]) =>
    GENERATED.test(name),
  );
  expect(readFolder(out)).toEqual(Object.fromEntries(ours));
});

test("the order of the input files changes nothing [COMP-3]", async () => {
  const image = fromBinary(FileDescriptorSetSchema, buildImage());
  const expected = await generate(image.file);
  await fc.assert(
    fc.asyncProperty(
      fc.shuffledSubarray(image.file, { minLength: image.file.length }),
      async (file) => {
        expect(await generate(file)).toEqual(expected);
      },
    ),
    { numRuns: runs(20, 2) },
  );
});

test("the generated TypeScript type-checks in strict mode", () => {
  expect(runProgram(join(BIN, "tsc"), ["-p", "."], { cwd: HUB })).toMatchObject({
    status: 0,
    stdout: "",
  });
});

test("the route documents conform to their published schema", () => {
  const schema = JSON.parse(readFileSync(join(ROOT, "schemas/routes.schema.json"), "utf8"));
  const validate = new Ajv2020({ strict: false }).compile(schema);
  const document = JSON.parse(readFileSync(join(HUB, "gen/routes/hub.json"), "utf8"));
  expect(validate(document), JSON.stringify(validate.errors)).toBe(true);
  delete document.routes[0].entry.exposure;
  expect(validate(document)).toBe(false);
});

test("no output contains a secret or a path of the machine [PLCF-5]", () => {
  for (const [name, content] of Object.entries(readFolder(join(HUB, "gen")))) {
    expect(content, name).not.toContain(ROOT);
    expect(content, name).not.toMatch(/client-?secret:[ \t]*["']?[A-Za-z0-9]/i);
  }
});

test("the policies are frozen, at every depth", async () => {
  const { accessPolicies, SkillService_GetSkill } = await import(
    "../../examples/hub/gen/hub/skills/v1/skill_service_access.ts"
  );
  const policy = accessPolicies[SkillService_GetSkill];
  expect(policy).toMatchObject({ exposure: "AUTHORIZED", authz: { action: "view" } });
  expect(Object.isFrozen(accessPolicies)).toBe(true);
  expect(Object.isFrozen(policy)).toBe(true);
  expect(Object.isFrozen(policy.authz?.resource)).toBe(true);
});

test("a bind function carries the descriptor, the policies and the routes of its service", async () => {
  const { bindSkillService } = await import(
    "../../examples/hub/gen/hub/skills/v1/skill_service_server.ts"
  );
  const handlers = {} as Parameters<typeof bindSkillService>[0];
  const binding = bindSkillService(handlers);
  expect(binding.formatVersion).toBe(1);
  expect(binding.handlers).toBe(handlers);
  const names = binding.service.methods.map(({ name }) => `${binding.service.typeName}/${name}`);
  expect(Object.keys(binding.policies).sort()).toEqual(names.sort());
  for (const { rpc } of binding.routes) expect(names).toContain(rpc);
});

function buildImage(): Uint8Array {
  const out = join(folder, "hub.binpb");
  expect(runProgram("buf", ["build", "proto", "-o", out], { cwd: HUB }).status).toBe(0);
  return readFileSync(out);
}

async function generate(file: FileDescriptorProto[]): Promise<Record<string, string>> {
  const request = create(CodeGeneratorRequestSchema, {
    parameter: `config=${join(HUB, "svc-access.yaml")}`,
    fileToGenerate: file.map(({ name }) => name).filter((name) => name.startsWith("hub/")),
    protoFile: file,
  });
  const bytes = toBinary(CodeGeneratorRequestSchema, request);
  const { response } = await runProtocPlugin(bytes, folder);
  const decoded = fromBinary(CodeGeneratorResponseSchema, response);
  expect(decoded.error).toBe("");
  return Object.fromEntries(decoded.file.map(({ name, content }) => [name, content]));
}

function readFolder(root: string): Record<string, string> {
  const names = readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
    .sort();
  return Object.fromEntries(names.map((name) => [name, readFileSync(join(root, name), "utf8")]));
}
