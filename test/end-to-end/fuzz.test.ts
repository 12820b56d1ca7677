/**
 * Mutates the hub's annotations at random. Each kind of mutation has its own
 * verdict: invalid mutations fail with their rule, valid ones change the policies.
 */

import { execFileSync } from "node:child_process";
import { join } from "node:path";
import {
  clone,
  create,
  fromBinary,
  getExtension,
  setExtension,
  toBinary,
} from "@bufbuild/protobuf";
import { FileDescriptorSetSchema, type MethodDescriptorProto } from "@bufbuild/protobuf/wkt";
import fc from "fast-check";
import { beforeAll, expect, test } from "vitest";
import {
  AuditSchema,
  AuthzSchema,
  Exposure,
  GatewaySchema,
  type Policy,
  policy as policyExtension,
  RateLimitSchema,
  RiskLevel,
} from "../../examples/hub/gen/svc/access/v1/policy_pb.ts";
import { readImage } from "../../src/api/descriptors/image.ts";
import { generate } from "../../src/compiler/generate.ts";
import { loadPlatform, type Platform } from "../../src/compiler/platform.ts";
import { readAndCheck } from "../../src/compiler/read-and-check.ts";
import { IS_THOROUGH, runs } from "../support/effort.ts";
import { BUF, ROOT } from "../support/workspace.ts";

const HUB = join(ROOT, "examples/hub");

/** A way to mutate a policy, or undefined if it does not apply. */
interface Mutation {
  /** The rule that must be among the findings; `valid` if there must be none. */
  readonly verdict: string;
  readonly apply: (policy: Policy, seed: number) => Policy | "removed" | undefined;
}

/** Makes a mutation from a function that changes a policy in place and returns whether it applies. */
function changing(verdict: string, change: (policy: Policy, seed: number) => boolean): Mutation {
  return { verdict, apply: (policy, seed) => (change(policy, seed) ? policy : undefined) };
}

const isInternal = ({ exposure }: Policy) =>
  exposure === Exposure.INTERNAL || exposure === Exposure.SYSTEM;
const isAuthorized = ({ exposure }: Policy) => exposure === Exposure.AUTHORIZED;

const MUTATIONS: readonly Mutation[] = [
  { verdict: "ACCESS_POLICY_REQUIRED", apply: () => "removed" },
  changing("ACCESS_EXPOSURE_REQUIRED", (policy) => {
    delete policy.exposure;
    return true;
  }),
  changing("ACCESS_EXPOSURE_REQUIRED", (policy, seed) => {
    policy.exposure = (5 + (seed % 1000)) as Exposure;
    return true;
  }),
  changing("ACCESS_AUTHZ_REQUIRED", (policy) => {
    delete policy.authz;
    return isAuthorized(policy);
  }),
  changing("ACCESS_AUTHZ_REQUIRED", ({ authz }) => {
    delete authz?.action;
    return authz !== undefined;
  }),
  changing("ACCESS_AUTHZ_REQUIRED", ({ authz }) => {
    if (authz !== undefined) authz.resource = "";
    return authz !== undefined;
  }),
  changing("ACCESS_AUTHZ_REQUIRED", (policy) => {
    const applies = !isAuthorized(policy);
    policy.exposure = Exposure.AUTHORIZED;
    return applies;
  }),
  changing("ACCESS_AUTHZ_UNUSED", (policy, seed) => {
    const others = [Exposure.PUBLIC, Exposure.AUTHENTICATED, Exposure.INTERNAL, Exposure.SYSTEM];
    const applies = isAuthorized(policy);
    policy.exposure = others[seed % others.length] ?? Exposure.PUBLIC;
    return applies;
  }),
  changing("ACCESS_AUTHZ_UNUSED", (policy) => {
    const applies = !isAuthorized(policy);
    policy.authz = create(AuthzSchema, { action: "view", resource: "skill:*" });
    return applies;
  }),
  changing("ACCESS_AUTHZ_RESOURCE_VALID", ({ authz }, seed) => {
    const bad = [
      "skill",
      "skill:",
      ":x",
      "Skill:x",
      "skill:a b",
      "skill:a*",
      "skill:a#b",
      "skill:{",
      "skill:{a..b}",
      "skill:}",
      "{type}:x",
      "skill:\u0000",
    ];
    if (authz !== undefined) authz.resource = bad[seed % bad.length] ?? "";
    return authz !== undefined;
  }),
  changing("ACCESS_AUTHZ_PLACEHOLDER_FIELD", ({ authz }, seed) => {
    const bad = ["{no_such}", "{principal}", "{principal.groups}", "{principal.no}", "{a.b}"];
    if (authz !== undefined) authz.resource = `skill:${bad[seed % bad.length]}`;
    return authz !== undefined;
  }),
  changing("ACCESS_AUTHZ_ACTION_KNOWN", ({ authz }, seed) => {
    const bad = ["no_such", "owner", "VIEW", "vieww", "constructor", "__proto__"];
    if (authz !== undefined) authz.action = bad[seed % bad.length] ?? "";
    return authz !== undefined;
  }),
  changing("ACCESS_AUTHZ_AUDIENCE_KNOWN", ({ authz }, seed) => {
    const bad = ["skill", "nobody", "", "usr", "toString"];
    if (authz !== undefined) authz.audience = bad[seed % bad.length] ?? "";
    return authz !== undefined;
  }),
  changing("ACCESS_AUDIT_EVENT_VALID", (policy, seed) => {
    const bad = ["", "one", "a.B", "a..b", ".a", "a.", "a b.c", "ä.b", "a.b\n"];
    policy.audit = create(AuditSchema, { event: bad[seed % bad.length] ?? "" });
    return true;
  }),
  changing("ACCESS_AUDIT_RISK_CONFLICT", (policy) => {
    policy.audit = create(AuditSchema, {
      event: "a.b",
      riskLevel: RiskLevel.HIGH,
      risk: RiskLevel.LOW,
    });
    return true;
  }),
  changing("ACCESS_RATE_LIMIT_VALID", (policy, seed) => {
    const qps = 2 + (seed % 100);
    const bad = [{ qps: 0 }, { qps: -qps }, { qps, burst: qps - 1 }, { burst: qps }, {}];
    policy.rateLimit = create(RateLimitSchema, bad[seed % bad.length] ?? {});
    return true;
  }),
  changing("ACCESS_GATEWAY_METHODS_VALID", (policy, seed) => {
    const bad = [["TRACE"], ["get"], ["GET", "POST", "PUT", "TRACE"], [""]];
    policy.gateway ??= create(GatewaySchema);
    policy.gateway.methods = bad[seed % bad.length] ?? [];
    return true;
  }),
  changing("ACCESS_GATEWAY_EXPOSURE", (policy) => {
    policy.gateway = create(GatewaySchema, { publish: true });
    return isInternal(policy);
  }),
  changing("valid", (policy, seed) => {
    const qps = 1000 + (seed % 1000);
    policy.rateLimit = create(RateLimitSchema, { qps, burst: qps * 2 });
    return true;
  }),
  changing("valid", (policy, seed) => {
    policy.audit = create(AuditSchema, {
      event: `fuzz.event_${seed}`,
      riskLevel: RiskLevel.CRITICAL,
    });
    return true;
  }),
  changing("valid", (policy) => {
    const applies = policy.audit !== undefined;
    delete policy.audit;
    return applies;
  }),
  changing("valid", (policy) => {
    const applies = policy.gateway?.publish === true;
    policy.gateway = create(GatewaySchema, { publish: false });
    return applies;
  }),
  changing("valid", ({ authz }, seed) => {
    if (authz === undefined) return false;
    authz.action = "manage";
    authz.resource = `skill:fixed-${seed}`;
    return true;
  }),
  changing("valid", ({ authz }) => {
    if (authz === undefined) return false;
    authz.audience = "service";
    authz.action = "manage_members";
    authz.resource = "group:*";
    return true;
  }),
];

let image: Uint8Array;
let platform: Platform;
let unchanged: string;

beforeAll(async () => {
  image = execFileSync(BUF, ["build", "proto", "-o", "-"], { cwd: HUB, maxBuffer: 1 << 28 });
  platform = await loadPlatform({ config: join(HUB, "svc-access.yaml"), folders: [] });
  unchanged = await policiesOf(image);
});

test("each mutation of an annotation has its verdict", async () => {
  const before = fromBinary(FileDescriptorSetSchema, image);
  const methods = methodsOf(before);
  expect(methods.length).toBeGreaterThanOrEqual(20);
  const applied = new Map<number, number>();
  await fc.assert(
    fc.asyncProperty(
      fc.nat(methods.length - 1),
      fc.nat(MUTATIONS.length - 1),
      fc.nat(1_000_000),
      async (at, kind, seed) => {
        const mutant = clone(FileDescriptorSetSchema, before);
        const method = methodsOf(mutant)[at];
        const mutation = MUTATIONS[kind];
        if (method?.options === undefined || mutation === undefined) throw new Error("no method");
        const mutated = mutation.apply(getExtension(method.options, policyExtension), seed);
        if (mutated === undefined) return;
        applied.set(kind, (applied.get(kind) ?? 0) + 1);
        method.options.$unknown =
          method.options.$unknown?.filter(({ no }) => no !== policyExtension.number) ?? [];
        if (mutated !== "removed") setExtension(method.options, policyExtension, mutated);
        const bytes = toBinary(FileDescriptorSetSchema, mutant);
        const rules = rulesOf(bytes);
        if (mutation.verdict === "valid") {
          expect(rules).toEqual([]);
          expect(await policiesOf(bytes)).not.toBe(unchanged);
        } else {
          expect(rules).toContain(mutation.verdict);
        }
      },
    ),
    { numRuns: runs(800, 30) },
  );
  // A kind that never applied would be an untested verdict; a few inputs may lack one.
  if (!IS_THOROUGH) return;
  expect([...applied.keys()].sort((left, right) => left - right)).toEqual(
    MUTATIONS.map((_, kind) => kind),
  );
});

test("bytes that are changed at random never crash the compiler", () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.nat(image.length - 1), fc.nat(255)), { minLength: 1, maxLength: 8 }),
      (changes) => {
        const bytes = new Uint8Array(image);
        for (const [at, value] of changes) bytes[at] = value;
        try {
          rulesOf(bytes);
        } catch (error) {
          expect((error as Error).name).toMatch(/^(UsageError|DescriptorError)$/);
        }
      },
    ),
    { numRuns: runs(1000, 30) },
  );
});

function methodsOf({
  file,
}: {
  file: readonly { service: readonly { method: MethodDescriptorProto[] }[] }[];
}) {
  return file.flatMap(({ service }) => service.flatMap(({ method }) => method));
}

function rulesOf(bytes: Uint8Array): string[] {
  const { diagnostics } = readAndCheck([readImage(bytes, "the mutant")], platform);
  return diagnostics.filter(({ severity }) => severity === "error").map(({ rule }) => rule);
}

async function policiesOf(bytes: Uint8Array): Promise<string> {
  const checked = readAndCheck([readImage(bytes, "the mutant")], platform);
  const { files } = await generate(checked, platform, {
    targets: ["policies"],
    importOptions: [],
  });
  return files.find(({ name }) => name === "policies.json")?.content ?? "";
}
