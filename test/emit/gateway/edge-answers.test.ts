/** The gateway's own behaviour: methods, timeouts, error responses and removed headers. */
import { describe, expect, test } from "vitest";
import { IDENTITY_HEADERS } from "../../../src/api/identity-headers.ts";
import { emitGateway } from "../../../src/emit/gateway/index.ts";
import { EDGE_ERRORS } from "../../../src/emit/gateway/print-traffic-policy.ts";
import { ERROR_CODES, type ErrorCode } from "../../../src/runtime/error/error-codes.ts";
import { buildInput, type RpcSpec } from "./build-input.ts";
import { CrdValidator, hasCrds } from "./crd-validator.ts";
import { type Document, documentsOf, ofKind } from "./documents.ts";
import { SAMPLE_CONFIG, SAMPLE_RPCS } from "./sample.ts";

const emit = (yaml: string, rpcs: readonly RpcSpec[] = SAMPLE_RPCS) =>
  emitGateway(buildInput(yaml, rpcs));
const documents = (yaml: string, rpcs?: readonly RpcSpec[]) => documentsOf(emit(yaml, rpcs).files);
const rulesOf = (all: readonly Document[]): any[] =>
  ofKind(all, "HTTPRoute").flatMap(({ spec }) => spec.rules);
const PAGES = "{ service: { name: hub-web, namespace: hub, port: 3000 } }";

describe("HEAD [EDGE-13]", () => {
  test("is routed like GET, by the same rule", () => {
    const rules = rulesOf(documents(SAMPLE_CONFIG));
    const of = (matches: any[], wanted: string) =>
      matches.filter(({ method }) => method === wanted).map(({ path }) => path.value);
    expect(rules.flatMap(({ matches }) => of(matches, "GET")).length).toBeGreaterThan(8);
    for (const { matches } of rules) expect(of(matches, "HEAD")).toEqual(of(matches, "GET"));
  });

  test("that an RPC or path binds itself stays with it, on all frontends of the host", () => {
    const rpcs: RpcSpec[] = [
      { rpc: "hub.skills.v1.A/Get", http: ["GET /v1/a/{id}"] },
      { rpc: "hub.skills.v1.A/Head", http: ["HEAD /v1/a/{name}"], exposure: "PUBLIC" },
    ];
    const heads = ofKind(documents(SAMPLE_CONFIG, rpcs), "HTTPRoute").filter(({ spec }) =>
      spec.rules.some(({ matches }: any) =>
        matches.some(({ method, path }: any) => method === "HEAD" && path.value.includes("/v1/a/")),
      ),
    );
    expect(heads.map(({ metadata }) => metadata.name)).toEqual(["hub-web.hub.1.public"]);
  });
});

describe("timeouts of the gateway [EDGE-13]", () => {
  const timeoutOf = (all: readonly Document[], path: string) =>
    rulesOf(all).find(({ matches }) => matches.some((each: any) => each.path.value === path))
      .timeouts.request;

  test("for an RPC, one second longer than the service; for pages, paths and streams, no limit", () => {
    const yaml = SAMPLE_CONFIG.replace(
      "packages: [svc.iam.v1]",
      "packages: [svc.iam.v1]\n    timeout: 1m30s",
    );
    const all = documents(yaml);
    expect(timeoutOf(all, "/v1/skills")).toBe("6s");
    expect(timeoutOf(all, "/v1/iam/me")).toBe("1m31s");
    for (const path of [
      "/",
      "/assets",
      "/healthz",
      "/v1/skills:watch",
      "/hub.feed.v1.FeedService/Follow",
    ]) {
      expect(timeoutOf(all, path), path).toBe("0s");
    }
  });

  test.each([
    ["1ms", "1s1ms"],
    ["59s", "1m"],
    ["500ms", "1s500ms"],
    ["99999ms", "1m40s999ms"],
    ["480h", "480h1s"],
  ])("%s and a second is %s", (timeout, expected) => {
    const yaml = SAMPLE_CONFIG.replace(
      "packages: [hub.skills.v1]",
      `packages: [hub.skills.v1]\n    timeout: ${timeout}`,
    );
    expect(timeoutOf(documents(yaml), "/v1/skills")).toBe(expected);
  });
});

describe("error responses of the gateway itself [EDGE-12]", () => {
  const all = documents(SAMPLE_CONFIG);
  const policies = ofKind(all, "BackendTrafficPolicy");

  test("has the form of the runtime's errors, by status, code and message", () => {
    expect(EDGE_ERRORS.map(({ status }) => status)).toEqual([400, 401, 403, 429, 503]);
    for (const { status, code, message } of EDGE_ERRORS) {
      expect(ERROR_CODES[code as ErrorCode]).toMatchObject({ http: status, message });
    }
    for (const { spec } of policies) {
      const plain = spec.responseOverride.slice(-EDGE_ERRORS.length);
      const bodies = plain.map(({ match, response, source }: any) => {
        expect(source).toBe("Local");
        expect(response.contentType).toBe("application/json");
        // An Envoy format string: any other percent sign would break the whole policy.
        expect(response.body.inline.replace("%REQ(X-REQUEST-ID)%", "")).not.toContain("%");
        const { status, request_id } = JSON.parse(response.body.inline);
        expect(request_id).toBe("%REQ(X-REQUEST-ID)%");
        expect(match.statusCodes).toEqual([{ type: "Value", value: status }]);
        return [status, response.header?.set];
      });
      expect(bodies).toEqual([
        [400, undefined],
        [401, [{ name: "WWW-Authenticate", value: "Bearer" }]],
        [403, undefined],
        [429, [{ name: "Retry-After", value: "1" }]],
        [503, undefined],
      ]);
    }
  });

  test("can be read by pages of allowed origins only", () => {
    for (const { metadata, spec } of policies) {
      const others = spec.responseOverride.slice(0, -EDGE_ERRORS.length);
      expect(others.length, metadata.name).toBe(
        metadata.name.startsWith("hub-web") ? EDGE_ERRORS.length : 0,
      );
      for (const [index, { match, source, response }] of others.entries()) {
        const plain = spec.responseOverride[EDGE_ERRORS.length + index];
        expect([source, match.statusCodes, response.body]).toEqual([
          "Local",
          plain.match.statusCodes,
          plain.response.body,
        ]);
        expect(match.responseHeaders).toEqual([
          {
            name: "access-control-allow-origin",
            value: { type: "RegularExpression", value: ".+" },
          },
        ]);
        const set = response.header.set.map(({ name, value }: any) => `${name}: ${value}`);
        expect(set).toEqual([
          ...(plain.response.header?.set ?? []).map(({ name, value }: any) => `${name}: ${value}`),
          "Access-Control-Allow-Origin: %REQ(ORIGIN)%",
          "Access-Control-Allow-Credentials: true",
          "Access-Control-Expose-Headers: X-Request-ID, Idempotent-Replayed, Retry-After, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, RateLimit-Policy, Content-Length",
        ]);
      }
    }
  });

  test("on every route of a service, including rate-limited rules, and on no page; the 302 of the login stays", () => {
    const targets = policies
      .filter(({ spec }) => spec.rateLimit === undefined)
      .flatMap(({ spec }) => spec.targetRefs.map(({ name }: any) => name));
    const routes = ofKind(all, "HTTPRoute").map(({ metadata }) => metadata.name);
    expect([...targets].sort()).toEqual(
      routes.filter((name) => /^(hub-web\.(hub|feed)|iam-web\.iam)\./.test(name)).sort(),
    );
    expect(policies.some(({ spec }) => spec.rateLimit !== undefined)).toBe(true);
    const statuses = policies.flatMap(({ spec }) =>
      spec.responseOverride.flatMap(({ match }: any) =>
        match.statusCodes.map(({ value }: any) => value),
      ),
    );
    expect(statuses).not.toContain(302);
  });
});

describe("identity headers", () => {
  const [policy] = ofKind(documents(SAMPLE_CONFIG), "ClientTrafficPolicy");
  const { withUnderscoresAction, earlyRequestHeaders } = policy?.spec.headers ?? {};
  const { remove, removeOnMatch } = earlyRequestHeaders;
  const isRemoved = (name: string) =>
    remove.includes(name) ||
    removeOnMatch.some(({ type, value }: any) =>
      type === "Prefix" ? name.startsWith(value) : type === "Exact" && name === value,
    );

  test("are removed in every spelling with hyphens and dots; underscores are rejected [EDGE-3]", () => {
    expect(withUnderscoresAction).toBe("RejectRequest");
    let count = 0;
    for (const name of [...IDENTITY_HEADERS, "x-svc-user.id", "x-svc-new-one"]) {
      const [first = "", ...parts] = name.split("-");
      for (let bits = 0; bits < 2 ** parts.length; bits++) {
        const text = parts.reduce(
          (sum, part, index) => `${sum}${(bits >> index) & 1 ? "." : "-"}${part}`,
          first,
        );
        expect(isRemoved(text), text).toBe(true);
        count++;
      }
    }
    expect(count).toBeGreaterThan(150);
    for (const name of [
      "x-request-id",
      "traceparent",
      "tracestate",
      "x.svc",
      "x-service-name",
      "authorization",
    ]) {
      expect(isRemoved(name), name).toBe(false);
    }
  });

  test("stay within the limits of Envoy Gateway", () => {
    expect(remove.length).toBeLessThanOrEqual(64);
    expect(removeOnMatch.length).toBeLessThanOrEqual(64);
  });
});

describe("the login", () => {
  const HTTP = SAMPLE_CONFIG.replace(
    /- \{ name: https.*/,
    "- { name: http, port: 8080, protocol: HTTP }",
  );

  test("over HTTP alone gives a warning for each frontend: browsers do not send its cookies", () => {
    const warnings = emit(HTTP).notes.filter((note) =>
      note.startsWith("warning: users cannot log in"),
    );
    expect(warnings).toEqual([
      expect.stringMatching(
        /^warning: users cannot log in to hub-web: hub\.example\.com has HTTP listeners only.*add an HTTPS listener/,
      ),
      expect.stringContaining("users cannot log in to iam-web"),
    ]);
    expect(emit(HTTP).files.length).toBeGreaterThan(0);
  });

  test("over HTTPS, on any listener of the host, gives none", () => {
    const both = SAMPLE_CONFIG.replace(
      "  listeners:\n",
      "  listeners:\n    - { name: http, port: 80, protocol: HTTP }\n",
    );
    for (const yaml of [SAMPLE_CONFIG, both]) {
      expect(emit(yaml).notes.join()).not.toContain("users cannot log in");
    }
  });

  test("has the time limit of the edge", () => {
    const times = (yaml: string) =>
      ofKind(documents(yaml), "SecurityPolicy").flatMap(
        ({ spec }) => spec.oidc?.csrfTokenTTL ?? [],
      );
    expect(times(SAMPLE_CONFIG)).toEqual(["4m", "4m"]);
    expect(
      times(SAMPLE_CONFIG.replace("  listeners:", "  login_timeout: 90s\n  listeners:")),
    ).toEqual(["1m30s", "1m30s"]);
  });

  test("is a 302 for scripts, too, and a 401 if the frontend configures it [ERR-4]", () => {
    const denied = (yaml: string) =>
      ofKind(documents(yaml), "SecurityPolicy").flatMap(
        ({ spec }) => spec.oidc?.denyRedirect?.headers ?? [],
      );
    expect(denied(SAMPLE_CONFIG)).toEqual([]);
    const yaml = SAMPLE_CONFIG.replace(
      "    claims: console",
      "    claims: console\n    deny_redirect: true",
    );
    expect(denied(yaml).map(({ name, value }) => `${name}: ${value}`)).toEqual([
      "Sec-Fetch-Dest: empty",
      "Sec-Fetch-Mode: cors",
      "X-Requested-With: XMLHttpRequest",
    ]);
  });
});

test("origins are as browsers send them, without duplicates", () => {
  const list = "[https://App.example.com, https://app.example.com, http://a.example]";
  const all = documents(SAMPLE_CONFIG.replace("[https://app.example.com]", list));
  const origins = ofKind(all, "SecurityPolicy").flatMap(
    ({ spec }) => spec.cors?.allowOrigins ?? [],
  );
  expect([...new Set(origins)]).toEqual(["http://a.example", "https://app.example.com"]);
  expect(origins.length).toBe(4);
});

/** The frontend hub-web, for programs with their own tokens. */
const BEARER = SAMPLE_CONFIG.replace(
  / {4}client_id: .*0001\n {4}client_secret.*\n {4}redirect_url.*\n {4}logout_path.*\n/,
  "    login: bearer\n    audiences: [cli, worker]\n",
)
  .replace(`    backend: ${PAGES}\n`, "")
  .replace(/.*frontend: hub-web.*\n/, "");

describe("a frontend with login: bearer [EDGE-9]", () => {
  const all = documents(BEARER);
  const policy = ofKind(all, "SecurityPolicy").find(({ metadata }) => metadata.name === "hub-web");

  test("checks tokens of its audiences, and has no login, client, session or page [EDGE-5]", () => {
    expect(policy?.spec.oidc).toBeUndefined();
    expect(policy?.spec.jwt.optional).toBeUndefined();
    expect(policy?.spec.jwt.providers).toMatchObject([
      {
        issuer: "https://id.example.com",
        audiences: ["cli", "worker"],
        extractFrom: { headers: [{ name: "Authorization", valuePrefix: "Bearer " }] },
      },
    ]);
    expect(policy?.spec.authorization.defaultAction).toBe("Deny");
    const paths = ofKind(all, "HTTPRoute")
      .filter(({ metadata }) => metadata.name.startsWith("hub-web."))
      .flatMap(({ spec }) =>
        spec.rules.flatMap(({ matches }: any) => matches.map(({ path }: any) => path.value)),
      );
    expect(paths).toContain("/v1/skills");
    for (const path of ["/", "/v1/authn/exchange", "/v1/authn/logout"])
      expect(paths).not.toContain(path);
  });

  test("covers each of its routes that is not PUBLIC", () => {
    const routes = ofKind(all, "HTTPRoute").filter(({ metadata }) =>
      /^hub-web\..*\d$/.test(metadata.name),
    );
    expect(routes.map(({ metadata }) => metadata.name).sort()).toEqual(
      policy?.spec.targetRefs.map(({ name }: any) => name).sort(),
    );
  });

  test("works without TLS", () => {
    const http = BEARER.replace(
      /- \{ name: https.*/,
      "- { name: http, port: 8080, protocol: HTTP }",
    );
    expect(emit(http).notes.filter((note) => note.includes("hub-web"))).toEqual([]);
  });

  test.skipIf(!hasCrds)("is valid by the CRDs (needs the CRDs)", () => {
    const validator = new CrdValidator();
    for (const { file: _file, ...document } of all)
      expect(validator.validate(document)).toEqual([]);
  });
});
