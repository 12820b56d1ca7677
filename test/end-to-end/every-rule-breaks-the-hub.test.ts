/**
 * For every error in an annotation, `buf lint`, `buf generate` and
 * `svc-access lint` fail with the same rule at the same line and column.
 */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { RULES } from "../../src/rules/index.ts";
import { IS_THOROUGH } from "../support/effort.ts";
import { runProgram } from "../support/programs.ts";
import { runSvcAccess } from "../support/svc-access.ts";
import { ROOT, Workspace } from "../support/workspace.ts";

/** A way to break every RPC that it applies to. */
interface Mutation {
  readonly name: string;
  /** A replacement in the text of one RPC. */
  readonly pattern: RegExp;
  readonly replacement: string;
  readonly rule: string;
}

const MUTATIONS: readonly Mutation[] = [
  {
    name: "the annotation removed",
    pattern: /option \(svc\.access\.v1\.policy\) = \{[\s\S]*?\n {4}\};/,
    replacement: "",
    rule: "ACCESS_POLICY_REQUIRED",
  },
  {
    name: "exposure removed",
    pattern: /exposure: [A-Z]+/,
    replacement: "",
    rule: "ACCESS_EXPOSURE_REQUIRED",
  },
  {
    name: "authz removed",
    pattern: /authz: \{[^{}]*(?:\{[^}]*\}[^{}]*)*\}/,
    replacement: "",
    rule: "ACCESS_AUTHZ_REQUIRED",
  },
  {
    name: "action removed",
    pattern: /action: "[^"]*"/,
    replacement: "",
    rule: "ACCESS_AUTHZ_REQUIRED",
  },
  {
    name: "resource removed",
    pattern: /resource: "[^"]*"/,
    replacement: "",
    rule: "ACCESS_AUTHZ_REQUIRED",
  },
  {
    name: "AUTHENTICATED with authz",
    pattern: /exposure: AUTHORIZED/,
    replacement: "exposure: AUTHENTICATED",
    rule: "ACCESS_AUTHZ_UNUSED",
  },
  {
    name: "a resource without a type",
    pattern: /resource: "[a-z_]+:/,
    replacement: 'resource: "',
    rule: "ACCESS_AUTHZ_RESOURCE_VALID",
  },
  {
    name: "a placeholder without a field",
    pattern: /(resource: "[a-z_]+:\{)(?!principal)[^}]*\}/,
    replacement: "$1no_such_field}",
    rule: "ACCESS_AUTHZ_PLACEHOLDER_FIELD",
  },
  {
    name: "an unknown action",
    pattern: /action: "([^"]*)"/,
    replacement: 'action: "$1x"',
    rule: "ACCESS_AUTHZ_ACTION_KNOWN",
  },
  {
    name: "an unknown type",
    pattern: /resource: "([a-z_]+):/,
    replacement: 'resource: "x$1:',
    rule: "ACCESS_AUTHZ_ACTION_KNOWN",
  },
  {
    name: "an audience that cannot hold the action",
    pattern: /(action: "[^"]*")/,
    replacement: '$1 audience: "skill"',
    rule: "ACCESS_AUTHZ_AUDIENCE_KNOWN",
  },
  {
    name: "an event without a dot",
    pattern: /event: "[^"]*"/,
    replacement: 'event: "write"',
    rule: "ACCESS_AUDIT_EVENT_VALID",
  },
  {
    name: "a risk that contradicts",
    pattern: /risk_level: ([A-Z]+)/,
    replacement: "risk_level: $1 risk: CRITICAL",
    rule: "ACCESS_AUDIT_RISK_CONFLICT",
  },
  {
    name: "a rate of zero",
    pattern: /qps: [0-9]+/,
    replacement: "qps: 0",
    rule: "ACCESS_RATE_LIMIT_VALID",
  },
  {
    name: "methods that are not bound",
    pattern: /(gateway: \{)/,
    replacement: '$1methods: "TRACE" ',
    rule: "ACCESS_GATEWAY_METHODS_VALID",
  },
  {
    name: "an INTERNAL RPC published",
    pattern: /exposure: INTERNAL/,
    replacement: "exposure: INTERNAL gateway: {publish: true}",
    rule: "ACCESS_GATEWAY_EXPOSURE",
  },
  {
    name: "a path with an unknown field",
    pattern: /((?:get|post|put|patch|delete): "\/v1\/[a-z]+)/,
    replacement: "$1/{no_such_field}",
    rule: "ACCESS_HTTP_RULE_VALID",
  },
  {
    name: "the object of an AUTHORIZED RPC named twice",
    pattern: /(exposure: AUTHORIZED[\s\S]*event: "[^"]*")/,
    replacement: '$1 resource: "skill:a"',
    rule: "ACCESS_AUDIT_RESOURCE_VALID",
  },
  {
    name: "the object of an event without its field",
    pattern: /^(\s*rpc \w+\((?!stream)[\s\S]*exposure: (?!AUTHORIZED)[\s\S]*event: "[^"]*")/,
    replacement: '$1 resource: "skill:{no_such_field}"',
    rule: "ACCESS_AUDIT_PLACEHOLDER_FIELD",
  },
  {
    name: "a stream of requests published",
    pattern: /(\(stream [\s\S]*)exposure: INTERNAL/,
    replacement: "$1exposure: AUTHENTICATED gateway: {publish: true}",
    rule: "ACCESS_GATEWAY_STREAMING",
  },
  {
    name: "the object of a stream of requests in a field",
    pattern: /(\(stream ReportLogRequest[\s\S]*)exposure: INTERNAL/,
    replacement: '$1exposure: AUTHORIZED authz: {action: "read" resource: "project:{project_id}"}',
    rule: "ACCESS_AUTHZ_PLACEHOLDER_STREAMING",
  },
  {
    name: "a write open to everyone without an event",
    pattern: /(post: [\s\S]*)exposure: (?:INTERNAL|SYSTEM)[\s\S]*?\n {4}\};/,
    replacement: "$1exposure: PUBLIC gateway: {publish: true} };",
    rule: "ACCESS_WRITE_PUBLIC",
  },
];

/** The rules that no change of one RPC of the hub breaks, and why. */
const WITHOUT_A_MUTATION: Readonly<Record<string, string>> = {
  ACCESS_PACKAGE_ASSIGNED: "is about svc-access.yaml",
  ACCESS_ANNOTATION_GENUINE: "is about another definition: forged-annotation.test.ts",
  ACCESS_AUTHZ_NAME_SEGMENT: "is about names of several segments, which the hub does not have",
  ACCESS_AUTHZ_PRINCIPAL_CLAIM: "is about the claims in svc-access.yaml",
  ACCESS_ROUTE_CONFLICT: "is about two RPCs: the test below",
  ACCESS_ROUTE_SHADOWED: "is about two RPCs",
  ACCESS_RPC_NAME_UNIQUE: "is about two RPCs",
  ACCESS_PATH_UNPUBLISHED: "is about a path of svc-access.yaml",
};

test("each rule that is an error has a mutation", () => {
  const broken = new Set(MUTATIONS.map(({ rule }) => rule));
  const errors = RULES.filter(({ category }) => category === "ACCESS").map(({ id }) => id);
  expect([...broken, ...Object.keys(WITHOUT_A_MUTATION)].sort()).toEqual(errors.sort());
});

const HUB = join(ROOT, "examples/hub");
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "svc-access-hub-"));
  cpSync(HUB, folder, {
    recursive: true,
    filter: (path) => !path.startsWith(join(HUB, "gen")) && !path.includes("node_modules"),
  });
  cpSync(join(ROOT, "proto"), join(folder, "node_modules/svc-access/proto"), { recursive: true });
  cpSync(join(ROOT, "model"), join(folder, "node_modules/svc-access/model"), { recursive: true });
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/**
 * Each program starts again for each tree of files. In CI, each mutation has its own tree and breaks
 * all RPCs that it applies to; elsewhere, all share one tree, and each breaks some RPCs.
 */
const TREES: readonly { readonly name: string; readonly mutations: readonly Mutation[] }[] =
  IS_THOROUGH
    ? MUTATIONS.map((mutation) => ({
        name: `${mutation.name} is ${mutation.rule}`,
        mutations: [mutation],
      }))
    : [{ name: `all ${MUTATIONS.length} mutations`, mutations: MUTATIONS }];

test.each(TREES)("$name in all three, at the same places [COMP-1]", ({ mutations }) => {
  const mutants = mutate(mutations);
  const lint = svcAccessLint();
  for (const rule of new Set(mutations.map((mutation) => mutation.rule))) {
    const expected = mutations
      .filter((mutation) => mutation.rule === rule)
      .reduce((sum, mutation) => sum + (mutants.get(mutation) ?? 0), 0);
    expect(lint.filter((line) => line.endsWith(` ${rule}`))).toHaveLength(expected);
  }
  expect(bufLint()).toEqual(lint);
  expect(bufGenerate()).toEqual(lint);
});

test("two routes that conflict: both places, in the same form in all three [COMP-1]", () => {
  using workspace = new Workspace({
    "a/v1/a.proto": `syntax = "proto3";
package a.v1;
import "google/api/annotations.proto";
import "svc/access/v1/policy.proto";
message Empty {}
service S {
  rpc One(Empty) returns (Empty) {
    option (google.api.http) = {get: "/v1/a"};
    option (svc.access.v1.policy) = {exposure: AUTHENTICATED};
  }
  rpc Two(Empty) returns (Empty) {
    option (google.api.http) = {get: "/v1/a"};
    option (svc.access.v1.policy) = {exposure: AUTHENTICATED};
  }
}
`,
  });
  workspace.write(
    "buf.yaml",
    "version: v2\nmodules: [{path: proto}, {path: vendor}]\nplugins: [{plugin: buf-plugin-svc-access}]\nlint: {use: [ACCESS], ignore: [vendor]}\n",
  );
  workspace.write(
    "buf.gen.yaml",
    "version: v2\nplugins: [{local: protoc-gen-svc-access, out: gen, strategy: all}]\n",
  );
  const message =
    "proto/a/v1/a.proto:12:12:MESSAGE a.v1.S/Two and a.v1.S/One (proto/a/v1/a.proto:8:12) both claim GET /v1/a on the service a.v1; change one path";
  const options = { cwd: workspace.folder };
  for (const { stdout, stderr } of [
    runSvcAccess(["lint", "."], options),
    runSvcAccess(["generate", ".", "--out", "gen"], options),
    runProgram("buf", ["lint"], options),
    runProgram("buf", ["generate"], options),
  ]) {
    expect((stdout + stderr).replace(/:12:12: ?/, ":12:12:MESSAGE ")).toContain(message);
  }
});

/** Breaks each RPC in one way, of those that apply the one that has broken the fewest. @returns how many RPCs each has broken */
function mutate(mutations: readonly Mutation[]): ReadonlyMap<Mutation, number> {
  const sources = new Map(
    protoFiles().map((file) => [file, readFileSync(join(HUB, file), "utf8")]),
  );
  const rpcs = [...sources.values()].flatMap((source) => source.match(RPC) ?? []);
  const places = (mutation: Mutation) => rpcs.filter((rpc) => mutation.pattern.test(rpc)).length;
  const rarestFirst = mutations.toSorted((left, right) => places(left) - places(right));
  const mutants = new Map(rarestFirst.map((mutation) => [mutation, 0]));
  for (const [file, source] of sources) {
    const mutated = source.replace(RPC, (rpc) => {
      const [mutation] = rarestFirst
        .filter(({ pattern }) => pattern.test(rpc))
        .toSorted((left, right) => (mutants.get(left) ?? 0) - (mutants.get(right) ?? 0));
      if (mutation === undefined) return rpc;
      mutants.set(mutation, (mutants.get(mutation) ?? 0) + 1);
      return rpc.replace(mutation.pattern, mutation.replacement);
    });
    writeFileSync(join(folder, file), mutated);
  }
  for (const [{ name }, count] of mutants) expect(count, name).toBeGreaterThan(0);
  return mutants;
}

/** One RPC with its body; the hub's are formatted, so that a body ends at its indentation. */
const RPC = /\n {2}rpc [\s\S]*?\n {2}\}\n/g;

function protoFiles(): string[] {
  return readdirSync(join(HUB, "proto"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".proto"))
    .map((name) => join("proto", name));
}

function svcAccessLint(): string[] {
  const { status, stdout } = runSvcAccess(["lint", ".", "--format", "json"], {
    cwd: folder,
  });
  expect(status).toBe(1);
  const { findings } = JSON.parse(stdout) as {
    findings: { file: string; line: number; column: number; rule: string; severity: string }[];
  };
  return findings
    .filter(({ severity }) => severity === "error")
    .map(({ file, line, column, rule }) => `${file}:${line}:${column} ${rule}`)
    .sort();
}

function bufLint(): string[] {
  const { status, stdout } = runProgram("buf", ["lint", "--error-format", "json"], { cwd: folder });
  expect(status).toBe(100);
  return stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, string | number>)
    .filter(({ type }) => String(type).startsWith("ACCESS_"))
    .map(
      ({ path, start_line, start_column, type }) => `${path}:${start_line}:${start_column} ${type}`,
    )
    .sort();
}

function bufGenerate(): string[] {
  const { status, stderr } = runProgram("buf", ["generate"], { cwd: folder });
  expect(status).not.toBe(0);
  return stderr
    .split("\n")
    .map((line) => /^(\S+?):(\d+):(\d+): .* \((ACCESS_[A-Z_]+)\)$/.exec(line))
    .filter((match) => match !== null)
    .map(([, file, line, column, rule]) => `${file}:${line}:${column} ${rule}`)
    .sort();
}
