/** `oidc-provider` itself, mounted by the public entry point of the runtime: what any service could do. */
import { Provider } from "oidc-provider";
import { nodeHandler, type RouteDocument, ServiceError } from "svc-access/runtime";
import { startTestServer } from "svc-access/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import allRoutes from "../../gen/routes/iam.json" with { type: "json" };
import { IAMAuthService } from "../../gen/svc/iam/v1/auth_pb.ts";
import { bindIAMAuthService } from "../../gen/svc/iam/v1/auth_server.ts";

const PATH = "/v1/iam/oidc";
const ISSUER = `https://iam.example.com${PATH}`;
const CALLBACK = "https://app.example.com/callback";

const routes = {
  ...allRoutes,
  routes: allRoutes.routes.filter(({ entry }) =>
    entry.rpc.startsWith(`${IAMAuthService.typeName}/`),
  ),
  paths: [{ path: PATH, match: "prefix", methods: ["*"], exposure: "PUBLIC" }],
} as unknown as RouteDocument;

const refuse = () => {
  throw new ServiceError("UNIMPLEMENTED");
};
const handlers = IAMAuthService.methods.map(({ localName }) => [localName, refuse]);

let server: Awaited<ReturnType<typeof startTestServer>>;
beforeAll(async () => {
  const provider = new Provider(ISSUER, {
    clients: [{ client_id: "app", client_secret: "secret", redirect_uris: [CALLBACK] }],
    cookies: { keys: ["key"] },
  });
  provider.proxy = true;
  server = await startTestServer(bindIAMAuthService(Object.fromEntries(handlers) as never), {
    routes,
    rawHandlers: [nodeHandler({ path: PATH, mount: PATH, handle: provider.callback() })],
    // The first request loads much.
    config: { server: { http: { timeout_ns: 60_000_000_000 } } },
  });
});
afterAll(() => server?.close());

/** As a gateway sends it, which has ended TLS. */
const ask = (path: string, init: RequestInit = {}) =>
  fetch(`${server.httpUrl}${PATH}${path}`, {
    redirect: "manual",
    ...init,
    headers: { "x-forwarded-proto": "https", ...init.headers },
  });

test("its discovery names addresses with the mount and the protocol of the gateway", async () => {
  const found = (await (await ask("/.well-known/openid-configuration")).json()) as {
    readonly issuer: string;
    readonly token_endpoint: string;
  };
  expect(found.issuer).toBe(ISSUER);
  expect(found.token_endpoint).toMatch(/^https:\/\/.*\/v1\/iam\/oidc\/token$/);
});

test("a login sets several cookies and leads to the interaction", async () => {
  const query = new URLSearchParams({
    client_id: "app",
    response_type: "code",
    scope: "openid",
    redirect_uri: CALLBACK,
    code_challenge: "a".repeat(43),
    code_challenge_method: "S256",
  });
  const response = await ask(`/auth?${query}`);
  expect(response.status).toBe(303);
  expect(response.headers.get("location")).toMatch(/^\/v1\/iam\/oidc\/interaction\//);
  expect(response.headers.getSetCookie().length).toBeGreaterThan(1);
});

test("the token endpoint reads its form from the stream of the body", async () => {
  const form = { grant_type: "authorization_code", code: "none", redirect_uri: CALLBACK };
  const headers = { authorization: `Basic ${Buffer.from("app:secret").toString("base64")}` };
  const sent = { method: "POST", body: new URLSearchParams(form) };
  const known = await ask("/token", { ...sent, headers });
  expect(known.status).toBe(400);
  expect(await known.json()).toMatchObject({ error: "invalid_grant" });
  const unknown = await ask("/token", sent);
  expect(await unknown.json()).toMatchObject({ error: "invalid_request" });
});
