import { describe, expect, test } from "vitest";
import { emitGateway } from "../../../src/emit/gateway/index.ts";
import { buildInput, type RpcSpec } from "./build-input.ts";
import { documentsOf, ofKind } from "./documents.ts";
import { SAMPLE_CONFIG, SAMPLE_RPCS } from "./sample.ts";

const emit = (yaml: string, rpcs: readonly RpcSpec[] = SAMPLE_RPCS) =>
  emitGateway(buildInput(yaml, rpcs));
const documents = (yaml: string) => documentsOf(emit(yaml).files);

describe("without an edge", () => {
  test("there are no files, and a note explains how to get them [EDGE-18]", () => {
    const { api } = buildInput(SAMPLE_CONFIG, SAMPLE_RPCS);
    for (const config of [undefined, buildInput("environment: production", []).config]) {
      const { files, notes } = emitGateway({ api, config });
      expect(files).toEqual([]);
      expect(notes).toEqual([
        expect.stringContaining("run `svc-access generate` in the platform repository"),
      ]);
    }
  });
});

describe("what has no route is reported", () => {
  test("published RPCs that no frontend uses", () => {
    const { notes } = emit(SAMPLE_CONFIG.replace("services: [hub, feed]", "services: [feed]"));
    expect(notes[0]).toBe("5 published RPCs have no route, as no frontend uses the service: hub");
  });

  test("methods and paths that the Gateway API does not support", () => {
    const { files, notes } = emit(SAMPLE_CONFIG, [
      { rpc: "hub.skills.v1.A/Purge", http: ["PURGE /v1/cache", "GET /v1/a%2Fb"] },
    ]);
    expect(notes).toEqual([
      "hub.skills.v1.A/Purge has no route for PURGE /v1/cache on hub.example.com: the Gateway API has no method PURGE",
      "hub.skills.v1.A/Purge has no route for GET /v1/a%2Fb on hub.example.com: the gateway rejects paths with an encoded slash",
    ]);
    expect(files.some(({ content }) => content.includes("PURGE"))).toBe(false);
  });

  test("a frontend with nothing to route", () => {
    const yaml = SAMPLE_CONFIG.replace("    services: [iam]\n", "")
      .replace(/\n +backend: \{ service: \{ name: iam-web.*/, "")
      .replace(/\n.*frontend: iam-web, path.*/, "");
    expect(emit(yaml).notes).toContain(
      "the frontend iam-web has no routes: it has no backend, no paths and no published RPCs",
    );
  });
});

describe("a configuration that would make a policy fail is rejected", () => {
  test.each<[string, (yaml: string) => string, string]>([
    [
      "a token endpoint with an IP address",
      (yaml) =>
        yaml.replace(
          "token_endpoint: http://casdoor.identity.svc.cluster.local:8000",
          "token_endpoint: http://10.0.0.1:8000",
        ),
      "identity.token_endpoint has an IP address",
    ],
    [
      "an issuer that is too long",
      (yaml) =>
        yaml.replace(
          "issuer: https://id.example.com",
          `issuer: https://id.example.com/${"a".repeat(250)}`,
        ),
      "identity.issuer has 273 characters",
    ],
    [
      "a host that no listener serves",
      (yaml) =>
        yaml.replace(
          "name: https, port: 443,",
          "name: https, port: 443, hostname: '*.example.org',",
        ),
      "no listener serves hub.example.com",
    ],
    [
      "an origin that CORS cannot have",
      (yaml) => yaml.replace("[https://app.example.com]", "['https://[::1]:8443']"),
      "has an IPv6 address, which Envoy Gateway rejects; write a host name",
    ],
    [
      "two frontends with one callback on a host",
      (yaml) => onOneHost(yaml).replaceAll("/v1/iam/oauth2/callback", "/v1/authn/exchange"),
      "both have /v1/authn/exchange as callback or logout path",
    ],
    [
      "two frontends with one prefix on a host",
      onOneHost,
      "both claim * /** on hub.example.com; give each its own prefix",
    ],
    [
      "a Backend that speaks HTTP and gRPC",
      (yaml) =>
        yaml.replace(
          "backend: { service: { name: feed, namespace: hub } }",
          "backend: { backend: { name: iam, namespace: iam, endpoints: [{ address: 10.0.0.7, port: 18080 }] } }",
        ),
      "is configured in two ways",
    ],
    [
      "a Backend of addresses and names",
      (yaml) => yaml.replace("endpoints: [", "endpoints: [{ address: iam.local, port: 1 }, "),
      "mixes IP addresses and host names",
    ],
    [
      "a service without a port",
      (yaml) => yaml.replace("ports: { grpc: 19002 }", "ports: {}"),
      "the service feed has no port: write ports.grpc",
    ],
  ])("%s", (_name, change, message) => {
    expect(() => emit(change(SAMPLE_CONFIG))).toThrow(message);
  });

  function onOneHost(yaml: string): string {
    return yaml
      .replaceAll("iam.example.com", "hub.example.com")
      .replace(/\n.*service: iam, path.*/g, "");
  }
});

describe("frontends on one host", () => {
  const yaml = SAMPLE_CONFIG.replaceAll("iam.example.com", "hub.example.com")
    .replace(/\n.*service: iam, path.*/g, "")
    .replace("    services: [iam]", "    prefix: /console/\n    services: [iam]");

  test("have a file, a policy and cookies each [EDGE-6]", () => {
    const policies = ofKind(documents(yaml), "SecurityPolicy").filter(
      ({ spec }) => spec.oidc !== undefined,
    );
    expect(policies.map(({ file }) => file)).toEqual([
      "gateway/hosts/hub.example.com/hub-web.yaml",
      "gateway/hosts/hub.example.com/iam-web.yaml",
    ]);
    const cookies = policies.flatMap(({ spec }) => Object.values(spec.oidc.cookieNames));
    expect(new Set(cookies).size).toBe(4);
    const names = policies.flatMap(({ spec }) => spec.jwt.providers.map(({ name }: any) => name));
    expect(names).toEqual(["hub-web", "iam-web"]);
  });

  test("have their precedence decided together", () => {
    // `/v1/{kind}/featured:list` of hub-web is wider than a path of iam-web.
    const both = documentsOf(
      emit(yaml, [
        ...SAMPLE_RPCS,
        { rpc: "svc.iam.v1.IAMAuthService/Get", http: ["GET /v1/u/{id}"] },
      ]).files,
    );
    const values = ofKind(both, "HTTPRoute").flatMap(({ spec }) =>
      spec.rules.flatMap(({ matches }: any) => matches.map(({ path }: any) => path.value)),
    );
    expect(values).toContain("/v1/u/[^/]+(?:)(?:)(?:)(?:)");
  });
});

describe("listeners", () => {
  test("routes attach to HTTPS only where both serve a host", () => {
    const yaml = SAMPLE_CONFIG.replace(
      "  listeners:\n",
      "  listeners:\n    - { name: http, port: 80, protocol: HTTP }\n",
    );
    const [route] = ofKind(documents(yaml), "HTTPRoute");
    expect(route?.spec.parentRefs.map(({ sectionName }: any) => sectionName)).toEqual(["https"]);
    expect(emit(yaml).notes).toContain(
      "the listener http has no routes of hosts with an HTTPS listener: the session cookie needs TLS",
    );
  });

  test("HTTP alone is for development", () => {
    const yaml = SAMPLE_CONFIG.replace(
      /- \{ name: https.*/,
      "- { name: http, port: 8080, protocol: HTTP }",
    );
    const [gateway] = ofKind(documents(yaml), "Gateway");
    expect(gateway?.spec.listeners[0].tls).toBeUndefined();
    const [route] = ofKind(documents(yaml), "HTTPRoute");
    expect(route?.spec.parentRefs).toEqual([
      {
        group: "gateway.networking.k8s.io",
        kind: "Gateway",
        name: "edge",
        namespace: "edge-system",
      },
    ]);
  });

  test("only routes of the Gateway's namespace attach where all frontends are in it", () => {
    const yaml = SAMPLE_CONFIG.replaceAll(/namespace: (?:hub|iam)\n/g, "namespace: edge-system\n");
    const [gateway] = ofKind(documents(yaml), "Gateway");
    expect(gateway?.spec.listeners[0].allowedRoutes.namespaces).toEqual({ from: "Same" });
  });
});

describe("streams", () => {
  test("are not cut off by a timeout, and gRPC is an HTTPRoute, too", () => {
    const all = documents(SAMPLE_CONFIG);
    const rules = ofKind(all, "HTTPRoute").flatMap(({ spec }) => spec.rules);
    const endless = rules.filter(({ timeouts }: any) => timeouts?.request === "0s");
    // Beside streams, what is not an RPC: pages, and what else a path may serve.
    expect(endless.map(({ matches }: any) => matches[0].path.value)).toEqual([
      "/v1/authn/exchange",
      "/assets",
      "/hub.feed.v1.FeedService/Follow",
      "/v1/skills:watch",
      "/healthz",
      "/v1/iam/oauth2/callback",
      "/healthz",
    ]);
    for (const { timeouts } of rules) expect(["0s", "6s"]).toContain(timeouts.request);
    expect(ofKind(all, "GRPCRoute")).toEqual([]);
    expect(emit(SAMPLE_CONFIG).notes).toEqual([
      "the gateway speaks gRPC to port 19002 of the Service feed in hub: write appProtocol: kubernetes.io/h2c there",
    ]);
  });

  test("a Backend itself declares HTTP/2", () => {
    const yaml = SAMPLE_CONFIG.replace(
      "backend: { service: { name: feed, namespace: hub } }",
      "backend: { backend: { name: feed, namespace: hub, endpoints: [{ address: Feed.Local, port: 19002 }] } }",
    );
    const [backend] = ofKind(documents(yaml), "Backend");
    expect(backend?.spec).toEqual({
      appProtocols: ["gateway.envoyproxy.io/h2c"],
      endpoints: [{ fqdn: { hostname: "feed.local", port: 19002 } }],
    });
  });
});
