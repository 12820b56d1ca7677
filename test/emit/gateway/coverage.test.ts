import { describe, expect, test } from "vitest";
import {
  emitGateway,
  type FrontendPlan,
  type PlannedRoute,
  planGateway,
} from "../../../src/emit/gateway/index.ts";
import type { EmitInput } from "../../../src/emit/output-file.ts";
import { buildInput, type RpcSpec } from "./build-input.ts";
import { documentsOf, ofKind } from "./documents.ts";
import { SAMPLE_CONFIG, SAMPLE_RPCS } from "./sample.ts";

const frontendsOf = ({ api, config }: EmitInput): FrontendPlan[] =>
  planGateway(api, config as NonNullable<EmitInput["config"]>).hosts.flatMap(
    (host) => host.frontends,
  );

const entriesOf = (frontend: FrontendPlan | undefined): PlannedRoute[] =>
  (frontend?.routes ?? []).flatMap(({ rules }) => rules.flatMap(({ entries }) => entries));

/** An entry in one line: `GET Exact /v1/iam/me rpc AUTHENTICATED iam-web`. */
const line = ({ match, owner, exposure, coveredBy, open }: PlannedRoute): string =>
  [
    match.method ?? "*",
    match.path.type,
    match.path.value,
    owner.kind,
    exposure,
    coveredBy ?? open,
  ].join(" ");

describe("which policy covers which route [EDGE-10]", () => {
  test("the plan has it for each match", () => {
    const [, iam] = frontendsOf(buildInput(SAMPLE_CONFIG, SAMPLE_RPCS));
    expect(entriesOf(iam).map(line)).toEqual([
      "GET Exact /v1/iam/oauth2/callback path PUBLIC iam-web",
      "HEAD Exact /v1/iam/oauth2/callback path PUBLIC iam-web",
      "* Exact /v1/iam/oauth2/callback login AUTHENTICATED iam-web",
      "* Exact /v1/iam/logout login AUTHENTICATED iam-web",
      "* PathPrefix / pages AUTHENTICATED iam-web",
      "GET Exact /v1/iam/me rpc AUTHENTICATED iam-web",
      "HEAD Exact /v1/iam/me rpc AUTHENTICATED iam-web",
      "GET Exact /healthz path PUBLIC PUBLIC",
      "HEAD Exact /healthz path PUBLIC PUBLIC",
      "GET Exact /readyz path PUBLIC PUBLIC",
      "HEAD Exact /readyz path PUBLIC PUBLIC",
      "GET Exact /v1/iam/login-url rpc PUBLIC PUBLIC",
      "HEAD Exact /v1/iam/login-url rpc PUBLIC PUBLIC",
    ]);
  });

  test("the plan survives JSON", () => {
    const { api, config } = buildInput(SAMPLE_CONFIG, SAMPLE_RPCS);
    const plan = planGateway(api, config as NonNullable<EmitInput["config"]>);
    expect(JSON.parse(JSON.stringify(plan))).toEqual(plan);
  });

  test.each([true, false])(
    "each route has the policy that its access requires, in the same file and before it (backstop %s) [EDGE-2]",
    (backstop) => {
      const yaml = SAMPLE_CONFIG.replace("  listeners:", `  backstop: ${backstop}\n  listeners:`);
      const documents = documentsOf(emitGateway(buildInput(yaml, SAMPLE_RPCS)).files);
      const policies = ofKind(documents, "SecurityPolicy").filter(({ file }) =>
        file.includes("/hosts/"),
      );
      const routes = ofKind(documents, "HTTPRoute");
      expect(routes.length).toBeGreaterThan(5);
      for (const route of routes) {
        const covering = policies.filter(
          ({ spec, metadata }) =>
            metadata.namespace === route.metadata.namespace &&
            spec.targetRefs.some(({ name }: { name: string }) => name === route.metadata.name),
        );
        const open = route.metadata.name.endsWith(".public");
        // hub-web has CORS, so its PUBLIC routes have a policy in any case.
        const expected = open && !backstop && route.metadata.namespace === "iam" ? 0 : 1;
        expect(covering).toHaveLength(expected);
        for (const policy of covering) {
          expect(policy.spec.oidc === undefined).toBe(open);
          expect(policy.spec.authorization?.defaultAction).toBe(
            open ? (backstop ? "Allow" : undefined) : "Deny",
          );
          expect(policy.file).toBe(route.file);
          expect(documents.indexOf(policy)).toBeLessThan(documents.indexOf(route));
        }
      }
      // No policy names a missing route: that would fail open.
      const names = new Set(routes.map(({ metadata }) => `${metadata.namespace} ${metadata.name}`));
      for (const { spec, metadata } of policies) {
        for (const { name } of spec.targetRefs)
          expect(names).toContain(`${metadata.namespace} ${name}`);
      }
      expect(
        ofKind(documents, "SecurityPolicy").some(
          ({ metadata }) => metadata.name === "edge.backstop",
        ),
      ).toBe(backstop);
    },
  );

  test("a PUBLIC RPC at the callback is behind the login, and is reported", () => {
    const input = buildInput(SAMPLE_CONFIG, [
      { rpc: "hub.skills.v1.A/Exchange", http: ["GET /v1/authn/exchange"], exposure: "PUBLIC" },
    ]);
    const found = entriesOf(frontendsOf(input)[0]).filter(({ owner }) => owner.kind === "rpc");
    expect(found.map(({ coveredBy }) => coveredBy)).toEqual(["hub-web", "hub-web"]);
    const note =
      "hub.skills.v1.A/Exchange is PUBLIC, but /v1/authn/exchange on hub.example.com is the callback or logout path of hub-web, which the gateway serves itself";
    expect(emitGateway(input).notes.filter((each) => each === note)).toHaveLength(1);
  });

  test("preflights have one match per path, behind the login if one of its routes is", () => {
    const input = buildInput(SAMPLE_CONFIG, [
      { rpc: "hub.skills.v1.A/List", http: ["GET /v1/a"], exposure: "PUBLIC" },
      { rpc: "hub.skills.v1.A/Create", http: ["POST /v1/a"] },
      { rpc: "hub.skills.v1.A/Any", http: ["* /v1/b"] },
    ]);
    const [hub, iam] = frontendsOf(input);
    const preflights = entriesOf(hub).filter(({ match }) => match.preflight);
    expect(preflights.filter(({ owner }) => owner.kind === "rpc").map(line)).toEqual([
      "OPTIONS Exact /v1/a rpc AUTHENTICATED hub-web",
    ]);
    expect(entriesOf(iam).filter(({ match }) => match.preflight)).toEqual([]);
  });

  test("INTERNAL and SYSTEM RPCs are never emitted, even if the rules miss them [EDGE-17]", () => {
    for (const exposure of ["INTERNAL", "SYSTEM"] as const) {
      const rpcs: RpcSpec[] = [{ rpc: "hub.skills.v1.A/Hidden", exposure }];
      expect(() => emitGateway(buildInput(SAMPLE_CONFIG, rpcs))).toThrow(
        "cannot be published at the edge",
      );
    }
    const { files } = emitGateway(
      buildInput(SAMPLE_CONFIG, [
        {
          rpc: "hub.skills.v1.A/Hidden",
          publish: false,
          exposure: "INTERNAL",
          http: ["GET /v1/hidden"],
        },
      ]),
    );
    expect(files.some(({ content }) => /hidden/i.test(content))).toBe(false);
  });
});
