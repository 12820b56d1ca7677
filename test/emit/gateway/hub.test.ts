/** The committed files of the example are valid by the CRDs, and cover each protected RPC with a policy. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { EXPOSED_HEADERS } from "../../../src/api/cors-headers.ts";
import { ROOT } from "../../support/workspace.ts";
import { CrdValidator, hasCrds } from "./crd-validator.ts";
import { documentsOf, ofKind } from "./documents.ts";

const GATEWAY = join(ROOT, "examples/hub/gen/gateway");
const documents = documentsOf(
  readdirSync(GATEWAY, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".yaml"))
    .map((name) => ({ name, content: readFileSync(join(GATEWAY, name), "utf8") })),
);

test.skipIf(!hasCrds)("every document is valid by the CRDs (needs the CRDs)", () => {
  const validator = new CrdValidator();
  expect(documents.length).toBeGreaterThan(5);
  for (const { file: _file, ...document } of documents) {
    expect(validator.validate(document), document.kind).toEqual([]);
  }
});

test("every route is the target of a SecurityPolicy in its own file [EDGE-2]", () => {
  const routes = ofKind(documents, "HTTPRoute");
  expect(routes.length).toBeGreaterThan(1);
  const policies = ofKind(documents, "SecurityPolicy");
  for (const route of routes) {
    const covering = policies.filter(
      ({ file, metadata, spec }) =>
        file === route.file &&
        metadata.namespace === route.metadata.namespace &&
        spec.targetRefs.some(
          ({ kind, name }: { kind: string; name: string }) =>
            kind === "HTTPRoute" && name === route.metadata.name,
        ),
    );
    expect(covering, route.metadata.name).toHaveLength(1);
    const isPublic = route.metadata.name.endsWith(".public");
    expect(covering[0]?.spec.oidc === undefined, route.metadata.name).toBe(isPublic);
  }
});

const login = ofKind(documents, "SecurityPolicy").find(({ spec }) => spec.oidc !== undefined);

test("browsers reach the authorization endpoint, and only the cluster the others; keys are kept for 10 minutes [EDGE-22, EDGE-23]", () => {
  const { authorizationEndpoint, tokenEndpoint } = login?.spec.oidc.provider ?? {};
  const { uri, cacheDuration } = login?.spec.jwt.providers[0].remoteJWKS ?? {};
  expect(new URL(authorizationEndpoint)).toMatchObject({ protocol: "https:" });
  for (const internal of [tokenEndpoint, uri]) {
    expect(new URL(internal).hostname).toMatch(/\.svc\.cluster\.local$/);
  }
  expect(cacheDuration).toBe("600s");
});

test("the client of a frontend has an id, a Secret, and its redirect URL [EDGE-24]", () => {
  const { clientID, clientSecret, redirectURL } = login?.spec.oidc ?? {};
  expect(clientID).toMatch(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  expect(clientSecret).toMatchObject({ kind: "Secret", name: "hub-frontend-oidc" });
  expect(redirectURL).toBe("https://hub.example.com/v1/authn/exchange");
  expect(JSON.stringify(documents)).not.toMatch(/client_?secret":"/i);
});

test("pages of the frontend are on its port, with the login of its API [WEB-2]", () => {
  const routes = ofKind(documents, "HTTPRoute").filter(({ spec }) =>
    spec.rules.some((rule: { backendRefs?: { name: string; port: number }[] }) =>
      rule.backendRefs?.some(({ name, port }) => name === "hub-frontend" && port === 3000),
    ),
  );
  expect(routes.length).toBeGreaterThan(0);
  const covered: string[] = login?.spec.targetRefs.map(({ name }: { name: string }) => name);
  for (const { metadata } of routes) expect(covered).toContain(metadata.name);
  expect(covered).toContain("hub-frontend.hub.1");
  expect(login?.spec.oidc.logoutPath).toBe("/v1/authn/logout");
});

test("CORS has the lists of the services and the edge [EDGE-25]", () => {
  const { cors } = login?.spec ?? {};
  const own = ["Authorization", "Content-Type", "X-Request-ID", "X-Trace-ID", "Idempotency-Key"];
  expect(cors.allowMethods).toEqual(["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);
  expect(cors.allowHeaders).toEqual([...own, "Traceparent", "Tracestate"]);
  expect(cors.exposeHeaders).toEqual([...EXPOSED_HEADERS, "Content-Length"]);
  expect(cors).toMatchObject({ maxAge: "3600s", allowCredentials: true });
});
