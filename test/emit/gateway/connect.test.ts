/** `frontends.*.connect`: the paths of Connect and gRPC-Web at the edge. */
import { describe, expect, test } from "vitest";
import { emitGateway } from "../../../src/emit/gateway/index.ts";
import { accessRouteConflict } from "../../../src/rules/access-route-conflict.ts";
import { HttpHeaders } from "../../../src/runtime/call/call-headers.ts";
import { Cors } from "../../../src/runtime/http/exchange/cors.ts";
import { buildInput, type RpcSpec } from "./build-input.ts";
import { documentsOf, ofKind } from "./documents.ts";
import { SAMPLE_CONFIG, SAMPLE_RPCS } from "./sample.ts";

const CONNECT = SAMPLE_CONFIG.replace(
  "    logout_path: /v1/authn/logout",
  "    logout_path: /v1/authn/logout\n    connect: true",
);
const READ = { idempotency: "NO_SIDE_EFFECTS" } as const;
const RPCS: readonly RpcSpec[] = [
  ...SAMPLE_RPCS,
  { rpc: "hub.skills.v1.A/Read", http: ["GET /v1/read"], ...READ },
  { rpc: "hub.skills.v1.A/Secret", http: ["GET /v1/secret"], ...READ, redactedRequest: true },
  { rpc: "hub.skills.v1.A/ReadByPost", http: ["POST /v1/read-by-post"], ...READ },
  { rpc: "hub.skills.v1.A/Unsure", http: ["GET /v1/unsure"] },
  { rpc: "hub.skills.v1.A/Plain", exposure: "PUBLIC" },
  { rpc: "hub.skills.v1.A/Hidden", http: ["GET /v1/hidden"], publish: false, ...READ },
  { rpc: "hub.skills.v1.A/System", publish: false, exposure: "SYSTEM" },
];

/** `POST /hub.skills.v1.A/Read hub-web.hub.1`, of all matches for such paths. */
function pathsOf(yaml: string, rpcs: readonly RpcSpec[] = RPCS): string[] {
  return ofKind(documentsOf(emitGateway(buildInput(yaml, rpcs)).files), "HTTPRoute")
    .flatMap(({ metadata, spec }) =>
      spec.rules.flatMap(({ matches }: any) =>
        matches.map(
          ({ path, method, headers }: any) =>
            `${headers ? "preflight" : method} ${path.value} ${metadata.name}`,
        ),
      ),
    )
    .filter((line) => /\.v1\.\w+\//.test(line) && !line.startsWith("preflight"));
}

describe("connect: true", () => {
  test("routes the published RPCs, each with the policy of its exposure, and GET only if allowed [EDGE-20]", () => {
    expect(pathsOf(CONNECT).sort()).toEqual([
      "GET /hub.skills.v1.A/Read hub-web.hub.1",
      "HEAD /hub.skills.v1.A/Read hub-web.hub.1",
      "POST /hub.feed.v1.FeedService/Follow hub-web.feed.1",
      "POST /hub.skills.v1.A/Plain hub-web.hub.1.public",
      "POST /hub.skills.v1.A/Read hub-web.hub.1",
      "POST /hub.skills.v1.A/ReadByPost hub-web.hub.1",
      "POST /hub.skills.v1.A/Secret hub-web.hub.1",
      "POST /hub.skills.v1.A/Unsure hub-web.hub.1",
      "POST /hub.skills.v1.SkillService/GetFeatured hub-web.hub.1.public",
      "POST /hub.skills.v1.SkillService/GetSkill hub-web.hub.1",
      "POST /hub.skills.v1.SkillService/ListSkills hub-web.hub.1",
      "POST /hub.skills.v1.SkillService/PublishSkill hub-web.hub.1",
      "POST /hub.skills.v1.SkillService/WatchSkills hub-web.hub.1",
    ]);
  });

  test("routes nothing that is not published, INTERNAL or SYSTEM", () => {
    const text = pathsOf(CONNECT).join();
    for (const name of ["Hidden", "System", "Reindex"]) expect(text).not.toContain(name);
    for (const exposure of ["INTERNAL", "SYSTEM"] as const) {
      const rpcs: RpcSpec[] = [
        { rpc: "hub.skills.v1.A/Inner", http: ["GET /v1/x"], exposure, ...READ },
      ];
      expect(() => pathsOf(CONNECT, rpcs)).toThrow("cannot be published at the edge");
    }
  });

  test("applies only to frontends that enable it", () => {
    const routed = pathsOf(SAMPLE_CONFIG);
    expect(routed).toEqual([
      "POST /hub.feed.v1.FeedService/Follow hub-web.feed.1",
      "POST /hub.skills.v1.A/Plain hub-web.hub.1.public",
    ]);
    expect(pathsOf(CONNECT).filter((line) => line.includes("iam"))).toEqual([]);
  });

  test("has the rate limit and the timeout of the RPC", () => {
    const documents = documentsOf(emitGateway(buildInput(CONNECT, RPCS)).files);
    const rules = ofKind(documents, "HTTPRoute").flatMap(({ spec }) => spec.rules);
    const ruleOf = (path: string) =>
      rules.find(({ matches }: any) => matches.some((each: any) => each.path.value === path));
    expect(ruleOf("/hub.skills.v1.SkillService/PublishSkill").name).toBe(
      "hub.skills.v1.skillservice.publishskill",
    );
    expect(ruleOf("/hub.skills.v1.SkillService/ListSkills").timeouts.request).toBe("6s");
    expect(ruleOf("/hub.skills.v1.SkillService/WatchSkills").timeouts.request).toBe("0s");
  });

  test("lets pages of other origins send and read the headers of its clients", () => {
    const cors = (yaml: string) =>
      ofKind(documentsOf(emitGateway(buildInput(yaml, RPCS)).files), "SecurityPolicy").find(
        ({ metadata }) => metadata.name === "hub-web",
      )?.spec.cors;
    expect(cors(CONNECT).allowHeaders).toContain("Connect-Protocol-Version");
    expect(cors(CONNECT).exposeHeaders).toContain("Grpc-Status");
    expect(cors(SAMPLE_CONFIG).allowHeaders).not.toContain("Connect-Protocol-Version");
    // The edge's CORS replaces the service's own.
    const origin = "https://app.example.com";
    const own = new Cors({ allowed_origins: [origin], max_age_seconds: 1 });
    const headers = new HttpHeaders(["Origin", origin, "Access-Control-Request-Method", "POST"]);
    const listOf = (fields: readonly string[] = [], name: string) =>
      (fields[fields.indexOf(name) + 1] ?? "").split(", ");
    const allowed = listOf(own.preflightHeaders(headers), "Access-Control-Allow-Headers");
    const exposed = listOf(own.responseHeaders(headers), "Access-Control-Expose-Headers");
    expect(allowed).toContain("Connect-Timeout-Ms");
    expect(cors(CONNECT).allowHeaders).toEqual(expect.arrayContaining(allowed));
    expect(exposed).toContain("Connect-Content-Encoding");
    expect(cors(CONNECT).exposeHeaders).toEqual(
      expect.arrayContaining(exposed.filter((name) => /^(?:Connect|Grpc|Content)-/.test(name))),
    );
  });

  test("reports that it has no effect for a service that is published as gRPC", () => {
    const { notes } = emitGateway(buildInput(CONNECT, RPCS));
    expect(notes).toContain(
      "connect: true of the frontend hub-web has no effect for feed, which is published as gRPC; write published_as: http for it",
    );
  });
});

describe("conflicts", () => {
  const conflicts = (yaml: string, rpcs: readonly RpcSpec[]) => {
    const { api } = buildInput(yaml, rpcs);
    const findings = accessRouteConflict.check({
      api,
      modelOf: () => undefined,
      placeOf: () => "svc-access.yaml:1:1",
    });
    return [...findings].map(({ message }) => message);
  };
  const path = (method: string) =>
    CONNECT.replace(
      "paths:\n",
      `paths:\n  - { frontend: hub-web, path: /hub.skills.v1.A/Read, methods: [${method}], exposure: PUBLIC }\n`,
    );
  const rpcs: readonly RpcSpec[] = [
    { rpc: "hub.skills.v1.A/Read", http: ["GET /v1/read"], ...READ },
  ];

  test.each(["POST", "GET", '"*"'])(
    "a declared path with %s may not take such a path",
    (method) => {
      expect(conflicts(path(method), rpcs)).toEqual([
        expect.stringContaining("/hub.skills.v1.A/Read on the host hub.example.com"),
      ]);
    },
  );

  test("there is no conflict with another method, without connect, or of an RPC with itself", () => {
    expect(conflicts(path("PUT"), rpcs)).toEqual([]);
    expect(conflicts(path("POST").replace("    connect: true\n", ""), rpcs)).toEqual([]);
    expect(conflicts(CONNECT, RPCS)).toEqual([]);
  });
});
