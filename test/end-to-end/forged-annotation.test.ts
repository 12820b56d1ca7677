/**
 * With another definition of the annotation, in which PUBLIC and AUTHORIZED are
 * swapped, no program generates anything, even if comments in its file ignore rules.
 */
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runProgram } from "../support/programs.ts";
import { runSvcAccess } from "../support/svc-access.ts";
import { ROOT } from "../support/workspace.ts";

const HUB = join(ROOT, "examples/hub");
const RULE = "ACCESS_ANNOTATION_GENUINE";
let folder: string;
let annotated: number;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "svc-access-forged-"));
  cpSync(HUB, folder, {
    recursive: true,
    filter: (path) => !path.startsWith(join(HUB, "gen")) && !path.includes("node_modules"),
  });
  const proto = join(folder, "node_modules/svc-access/proto");
  cpSync(join(ROOT, "proto"), proto, { recursive: true });
  cpSync(join(ROOT, "model"), join(folder, "node_modules/svc-access/model"), { recursive: true });
  const forged = join(proto, "svc/access/v1/policy.proto");
  const text = readFileSync(forged, "utf8");
  writeFileSync(
    forged,
    text.replace("PUBLIC = 0", "AUTHORIZED = 0").replace("AUTHORIZED = 2", "PUBLIC = 2"),
  );
  const config = join(folder, "buf.yaml");
  const ignore = `  ignore: [node_modules/svc-access/proto]\n  ignore_only: {${RULE}: [node_modules/svc-access/proto]}\n`;
  writeFileSync(config, readFileSync(config, "utf8").replace(/^lint:\n/m, `lint:\n${ignore}`));
  annotated = readdirSync(join(HUB, "proto"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".proto"))
    .map((name) => readFileSync(join(HUB, "proto", name), "utf8"))
    .join("")
    .match(/option \(svc\.access\.v1\.policy\)/g)?.length as number;
  expect(annotated).toBeGreaterThan(5);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

const run = (program: "buf" | "svc-access", ...args: string[]) =>
  program === "buf"
    ? runProgram(program, args, { cwd: folder })
    : runSvcAccess(args, { cwd: folder });
const findings = (output: string) => output.split("\n").filter((line) => line.includes(RULE));

test("buf lint reports each RPC", () => {
  const { status, stdout } = run("buf", "lint", "--error-format", "json");
  expect(status).toBe(100);
  expect(findings(stdout)).toHaveLength(annotated);
});

test("the message names the rule, which the text format of buf lint does not print", () => {
  const { stdout } = run("buf", "lint");
  const lines = stdout.split("\n").filter((line) => line.includes("svc.access.v1.policy in"));
  expect(lines).toHaveLength(annotated);
  for (const line of lines) expect(line).toContain(` (${RULE}) (buf-plugin-svc-access)`);
});

test("buf generate makes nothing", () => {
  const { status, stderr } = run("buf", "generate");
  expect(status).not.toBe(0);
  expect(findings(stderr)).toHaveLength(annotated);
  expect(stderr).toContain("svc.access.v1.Exposure.PUBLIC is 2 instead of 0");
  expect(existsSync(join(folder, "gen/policies.json"))).toBe(false);
});

test("svc-access lint, generate, routes and explain reject it, also in an image", () => {
  expect(run("buf", "build", "proto", "-o", "image.binpb").status).toBe(0);
  for (const input of [".", "image.binpb"]) {
    const lint = run("svc-access", "lint", input);
    expect(lint.status).toBe(1);
    expect(findings(lint.stdout)).toHaveLength(annotated);
    const generated = run("svc-access", "generate", input, "--out", "out");
    expect(generated.status).toBe(1);
    expect(findings(generated.stderr)).toHaveLength(annotated);
    expect(existsSync(join(folder, "out"))).toBe(false);
    const routes = run("svc-access", "routes", input);
    expect(routes.status).toBe(1);
    expect(routes.stdout).not.toMatch(/PUBLIC|AUTHORIZED|published/);
    const explained = run("svc-access", "explain", input, "GetSkill");
    expect(explained.status).toBe(1);
    expect(explained.stdout).toBe("");
    expect(explained.stderr).toContain(RULE);
  }
});

test("an image without the definition is rejected, with the fix", () => {
  cpSync(join(ROOT, "proto"), join(folder, "node_modules/svc-access/proto"), { recursive: true });
  expect(run("buf", "build", "proto", "--exclude-imports", "-o", "bare.binpb").status).toBe(0);
  const { status, stdout } = run("svc-access", "lint", "bare.binpb");
  expect(status).toBe(1);
  expect(findings(stdout)).toHaveLength(annotated);
  expect(stdout).toContain("build the input with its imports");
  expect(run("buf", "build", "proto", "-o", "whole.binpb").status).toBe(0);
  expect(findings(run("svc-access", "lint", "whole.binpb").stdout)).toEqual([]);
});
