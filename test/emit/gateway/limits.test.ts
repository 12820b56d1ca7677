import { describe, expect, test } from "vitest";
import { emitGateway } from "../../../src/emit/gateway/index.ts";
import { buildInput, type RpcSpec } from "./build-input.ts";
import { CrdValidator, hasCrds } from "./crd-validator.ts";
import { type Document, documentsOf, ofKind } from "./documents.ts";
import { SAMPLE_CONFIG } from "./sample.ts";

/** The policies with rate limits; others define the form of errors. */
const limitsOf = (documents: readonly Document[]) =>
  ofKind(documents, "BackendTrafficPolicy").filter(({ spec }) => spec.rateLimit !== undefined);

/** 600 RPCs on one host: every third PUBLIC, every fourth with a rate limit. */
const MANY: readonly RpcSpec[] = Array.from({ length: 600 }, (_, index): RpcSpec => {
  return {
    rpc: `hub.skills.v1.Service${index % 40}/Call${index}`,
    http: [`GET /v1/things${index}/{id}`, `POST /v1/things${index}`],
    exposure: index % 3 === 0 ? "PUBLIC" : "AUTHENTICATED",
    ...(index % 4 === 0 ? { limit: { qps: 5 + (index % 2), burst: 20 } } : {}),
  };
});

describe("600 RPCs on one host", () => {
  const { files, notes } = emitGateway(
    buildInput(SAMPLE_CONFIG.replace(/ +allowed_origins.*\n/, ""), MANY),
  );
  const documents = documentsOf(files);
  const routes = ofKind(documents, "HTTPRoute").filter(({ metadata }) =>
    metadata.name.startsWith("hub-web.hub."),
  );
  const matchesOf = ({ spec }: Document): any[] =>
    spec.rules.flatMap(({ matches }: any) => matches);

  test("stay within the limits of a route", () => {
    for (const { spec, metadata } of routes) {
      expect(spec.rules.length).toBeLessThanOrEqual(16);
      expect(matchesOf({ spec } as Document).length).toBeLessThanOrEqual(128);
      for (const { matches } of spec.rules) expect(matches.length).toBeLessThanOrEqual(64);
      expect(metadata.name).toMatch(/^hub-web\.hub\.\d+(\.public)?$/);
    }
    expect(new Set(routes.map(({ metadata }) => metadata.name)).size).toBe(routes.length);
  });

  test("are all routed, each match once", () => {
    const texts = routes.flatMap(matchesOf).map(({ path, method }) => `${method} ${path.value}`);
    expect(new Set(texts).size).toBe(texts.length);
    // GET, HEAD and POST each; two health paths with GET and HEAD.
    expect(texts.length).toBe(1804);
    expect(notes).toEqual([]);
  });

  test("are all covered by one of two policies", () => {
    const policies = ofKind(documents, "SecurityPolicy").filter(
      ({ metadata }) => metadata.namespace === "hub",
    );
    expect(policies.map(({ metadata }) => metadata.name)).toEqual(["hub-web", "hub-web.public"]);
    const targets = policies.flatMap(({ spec }) => spec.targetRefs.map(({ name }: any) => name));
    const all = ofKind(documents, "HTTPRoute").filter(
      ({ metadata }) => metadata.namespace === "hub",
    );
    expect([...targets].sort()).toEqual(all.map(({ metadata }) => metadata.name).sort());
  });

  test("have their own rule if they have a rate limit, and the limit refers to it", () => {
    const limits = limitsOf(documents);
    expect(limits.map(({ metadata }) => metadata.name)).toEqual([
      "hub-web.limit-20",
      "hub-web.limit-20.public",
    ]);
    const targets = limits.flatMap(({ spec }) =>
      spec.targetRefs.map((ref: any) => `${ref.name} ${ref.sectionName}`),
    );
    const named = routes.flatMap(({ spec, metadata }) =>
      spec.rules
        .filter(({ name }: any) => name !== undefined)
        .map(({ name }: any) => `${metadata.name} ${name}`),
    );
    expect(targets).toHaveLength(150);
    expect([...targets].sort()).toEqual([...named].sort());
  });

  test.skipIf(!hasCrds)(
    "are valid by the CRDs (needs the CRDs)",
    () => {
      const validator = new CrdValidator();
      for (const { file: _file, ...document } of documents)
        expect(validator.validate(document)).toEqual([]);
    },
    60_000,
  );
});

describe("rate limits [EDGE-11]", () => {
  const limited: readonly RpcSpec[] = [
    { rpc: "hub.skills.v1.A/Get_It", http: ["GET /v1/a"], limit: { qps: 5, burst: 2 } },
    { rpc: "hub.skills.v1.A/get_it", http: ["GET /v1/b"], limit: { qps: 5 } },
    {
      rpc: "hub.skills.v1.A/Open",
      http: ["GET /v1/c"],
      exposure: "PUBLIC",
      limit: { qps: 1, burst: 9 },
    },
  ];

  test("count by subject behind the login and by address elsewhere, locally or globally", () => {
    for (const kind of ["local", "global"]) {
      const yaml = SAMPLE_CONFIG.replace("  listeners:", `  rate_limit: ${kind}\n  listeners:`);
      const limits = limitsOf(documentsOf(emitGateway(buildInput(yaml, limited)).files));
      expect(limits.map(({ spec }) => spec.rateLimit)).toEqual([
        {
          [kind]: {
            rules: [
              {
                clientSelectors: [{ headers: [{ name: "x-svc-external-sub", type: "Distinct" }] }],
                limit: { requests: 5, unit: "Second" },
              },
            ],
          },
        },
        {
          [kind]: {
            rules: ["0.0.0.0/0", "::/0"].map((value) => ({
              clientSelectors: [{ sourceCIDR: { type: "Distinct", value } }],
              limit: { requests: 9, unit: "Second" },
            })),
          },
        },
      ]);
    }
  });

  test("apply to declared paths, too", () => {
    const path = "  - { service: hub, path: /v1/hub/hook, methods: [POST], exposure: PUBLIC,";
    const yaml = `${SAMPLE_CONFIG}${path} rate_limit: { qps: 3, burst: 7 } }\n`;
    const documents = documentsOf(emitGateway(buildInput(yaml, [])).files);
    const [limit, ...others] = limitsOf(documents);
    expect(others).toEqual([]);
    const requests = limit?.spec.rateLimit.local.rules.map(({ limit }: any) => limit.requests);
    expect(requests).toEqual([7, 7]);
    const [target] = limit?.spec.targetRefs ?? [];
    const route = ofKind(documents, "HTTPRoute").find(
      ({ metadata }) => metadata.name === target.name,
    );
    const rule = route?.spec.rules.find(({ name }: any) => name === target.sectionName);
    expect(new Set(rule.matches.map(({ path }: any) => path.value))).toEqual(
      new Set(["/v1/hub/hook"]),
    );
  });

  test("name rules that differ in case only differently", () => {
    const documents = documentsOf(emitGateway(buildInput(SAMPLE_CONFIG, limited)).files);
    const [limit] = limitsOf(documents);
    const names = limit?.spec.targetRefs.map(({ sectionName }: any) => sectionName);
    expect(names).toEqual([
      "hub.skills.v1.a.get-it",
      expect.stringMatching(/^hub\.skills\.v1\.a\.get-it\.[0-9a-f]{12}$/),
    ]);
  });
});
