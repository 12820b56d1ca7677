/** What `buf breaking` finds of policies: each change that lets more in, or has less recorded. */
import { describe, expect, test } from "vitest";
import { fileName } from "../../../src/api/descriptors/code-generator-request.ts";
import { readImage } from "../../../src/api/descriptors/image.ts";
import { checkBreaking } from "../../../src/compiler/check-breaking.ts";
import { loadPlatform } from "../../../src/compiler/platform.ts";
import { BREAKING_RULES } from "../../../src/rules/breaking/index.ts";
import { Workspace } from "../../support/workspace.ts";
import { policy, rpc } from "../sources.ts";

const MESSAGES = "message Request { string id = 1; string other = 2; }\nmessage Response {}";
const EXPOSURES = ["PUBLIC", "AUTHENTICATED", "AUTHORIZED", "INTERNAL", "SYSTEM"];
const AUTHORIZED = (action: string, resource: string, more = "") =>
  `exposure: AUTHORIZED authz: {action: "${action}" resource: "${resource}" ${more}}`;
const VIEW = AUTHORIZED("view", "item:{id}");
const audit = (event: string, more = "") => `exposure: PUBLIC audit: {event: "${event}" ${more}}`;
const limit = (text: string) => `exposure: PUBLIC rate_limit: {${text}}`;

/** The image of a service with one RPC, of this policy. */
function imageOf(content: string | undefined, name = "Get") {
  const source = [
    'syntax = "proto3";',
    "package acme.v1;",
    'import "svc/access/v1/policy.proto";',
    `service S {\n${rpc(name, ...(content === undefined ? [] : [policy(content)]))}\n}`,
    MESSAGES,
  ].join("\n");
  using workspace = new Workspace({ "acme.proto": source });
  return readImage(workspace.build(), "the test's image").map((file) => {
    return { ...file, target: fileName(file.bytes) === "acme.proto" };
  });
}

const images = new Map<string | undefined, ReturnType<typeof imageOf>>();
function cached(content: string | undefined) {
  const known = images.get(content) ?? imageOf(content);
  images.set(content, known);
  return known;
}

async function found(before: string | undefined, now: string | undefined) {
  const platform = await loadPlatform({ folders: [] });
  const checked = checkBreaking(cached(before), cached(now), platform, BREAKING_RULES);
  return checked.diagnostics.map(({ rule, message, file }) => {
    expect(file).toBe("acme.proto");
    return `${rule.replace("ACCESS_", "")}: ${message}`;
  });
}

describe("an exposure [COMP-5]", () => {
  test("is laxer than those after it, and stricter than those before it", async () => {
    for (const [from, before] of EXPOSURES.entries()) {
      for (const [to, now] of EXPOSURES.entries()) {
        const messages = await found(`exposure: ${before}`, `exposure: ${now}`);
        expect(messages, `${before} to ${now}`).toEqual(
          to < from ? [`EXPOSURE_NO_LAXER: Get was ${before}, and ${now} allows more callers`] : [],
        );
      }
    }
  });

  test.each([
    ["that is gone", ""],
    ["of a policy that is gone", undefined],
  ])("%s", async (_, now) => {
    expect(await found("exposure: INTERNAL", now)).toEqual([
      "EXPOSURE_NO_LAXER: Get was INTERNAL, and no longer has a known exposure",
    ]);
  });
});

test.each<[string, string | undefined, string | undefined, string[]]>([
  ["nothing", VIEW, VIEW, []],
  ["a policy that was not there", undefined, "exposure: PUBLIC gateway: {publish: true}", []],
  [
    "the permission",
    VIEW,
    AUTHORIZED("edit", "item:{id}"),
    [
      'AUTHZ_SAME_CHECK: authz.action of Get was "view", and is now "edit": other callers may be allowed',
    ],
  ],
  [
    "the object",
    VIEW,
    AUTHORIZED("view", "item:{other}"),
    [
      'AUTHZ_SAME_CHECK: authz.resource of Get was "item:{id}", and is now "item:{other}": other callers may be allowed',
    ],
  ],
  [
    "the audience",
    VIEW,
    AUTHORIZED("view", "item:{id}", 'audience: "service"'),
    [
      'AUTHZ_SAME_CHECK: authz.audience of Get was "user", and is now "service": other callers may be allowed',
    ],
  ],
  [
    "the default audience, written out",
    VIEW,
    AUTHORIZED("view", "item:{id}", 'audience: "user"'),
    [],
  ],
  [
    "the check that is gone",
    VIEW,
    "exposure: AUTHORIZED",
    [
      'AUTHZ_SAME_CHECK: authz.action of Get was "view", and is no longer set: other callers may be allowed',
      'AUTHZ_SAME_CHECK: authz.resource of Get was "item:{id}", and is no longer set: other callers may be allowed',
    ],
  ],
  ["a check where services only may call", VIEW, "exposure: INTERNAL", []],
  [
    "the audit that is gone",
    audit("a.b"),
    "exposure: PUBLIC",
    ['AUDIT_NO_DELETE: Get was audited as "a.b", and is no longer audited'],
  ],
  [
    "the audit's event",
    audit("a.b"),
    audit("a.c"),
    [
      'AUDIT_NO_DELETE: audit.event of Get was "a.b", and is now "a.c": searches for the former event miss its calls',
    ],
  ],
  [
    "a lower risk",
    audit("a.b", "risk_level: CRITICAL"),
    audit("a.b", "risk_level: HIGH"),
    ["AUDIT_NO_DELETE: the risk level of Get was CRITICAL, and is now HIGH"],
  ],
  [
    "a risk that is gone",
    audit("a.b", "risk_level: MEDIUM"),
    audit("a.b"),
    ["AUDIT_NO_DELETE: the risk level of Get was MEDIUM, and is now LOW"],
  ],
  [
    "the same risk by its former name",
    audit("a.b", "risk: HIGH"),
    audit("a.b", "risk_level: HIGH"),
    [],
  ],
  ["a higher risk, and an audit", "exposure: PUBLIC", audit("a.b", "risk_level: HIGH"), []],
  [
    "the limit that is gone",
    limit("qps: 5"),
    "exposure: PUBLIC",
    ["RATE_LIMIT_NO_LAXER: Get had a rate limit of 5 qps, and no longer has one"],
  ],
  [
    "more calls",
    limit("qps: 5"),
    limit("qps: 6"),
    ["RATE_LIMIT_NO_LAXER: rate_limit.qps of Get was 5, and is now 6"],
  ],
  [
    "more at once",
    limit("qps: 5"),
    limit("qps: 5 burst: 9"),
    ["RATE_LIMIT_NO_LAXER: rate_limit.burst of Get was 5, and is now 9"],
  ],
  ["fewer calls", limit("qps: 5 burst: 9"), limit("qps: 4 burst: 4"), []],
  ["the burst of the qps, written out", limit("qps: 5"), limit("qps: 5 burst: 5"), []],
  [
    "the edge",
    "exposure: PUBLIC",
    "exposure: PUBLIC gateway: {publish: true}",
    ["GATEWAY_NO_PUBLISH: Get was not published, and now the edge routes to it"],
  ],
  [
    "the edge, which was refused",
    "exposure: PUBLIC gateway: {publish: false}",
    "exposure: PUBLIC gateway: {publish: true}",
    ["GATEWAY_NO_PUBLISH: Get was not published, and now the edge routes to it"],
  ],
  ["no edge any more", "exposure: PUBLIC gateway: {publish: true}", "exposure: PUBLIC", []],
])("what changes: %s [COMP-5]", async (_, before, now, messages) => {
  expect(await found(before, now)).toEqual(messages);
});

test("a new or renamed RPC is not a change of a policy", async () => {
  const platform = await loadPlatform({ folders: [] });
  const [before, now] = [imageOf(VIEW, "Get"), imageOf("exposure: PUBLIC", "Fetch")];
  expect(checkBreaking(before, now, platform, BREAKING_RULES).diagnostics).toEqual([]);
});

test("a former annotation that cannot be trusted is reported, and not compared", async () => {
  const platform = await loadPlatform({ folders: [] });
  const forged = cached(VIEW).filter(
    ({ bytes }) => fileName(bytes) !== "svc/access/v1/policy.proto",
  );
  const { notes, diagnostics } = checkBreaking(
    forged,
    cached("exposure: PUBLIC"),
    platform,
    BREAKING_RULES,
  );
  expect(diagnostics).toEqual([]);
  expect(notes).toEqual([
    expect.stringMatching(/^the policies of 1 RPCs were not compared; for acme.v1.S\/Get, /),
  ]);
});
