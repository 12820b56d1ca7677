/** Errors that the chain, or svc-iam itself, answers at the endpoints of OAuth have the form of OAuth. */
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { databaseOf } from "../../support/browser-login.ts";
import { type IamService, startIam } from "../../support/iam-service.ts";
import { startProvider, stopAll } from "../../support/provider-server.ts";

const OIDC = "/v1/iam/oidc";
let iam: IamService;
beforeAll(async () => {
  iam = await startIam({ logLevel: "silent" });
});
afterAll(async () => {
  await stopAll();
  await iam.stop();
});

const FORM = { "content-type": "application/x-www-form-urlencoded" };

interface Refusal {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
  readonly status: number;
  readonly error: string;
  readonly description?: RegExp;
}

const send = (at: { readonly origin: string }, { method = "POST", path, headers, body }: Refusal) =>
  fetch(`${at.origin}${OIDC}${path}`, {
    method,
    redirect: "manual",
    headers: { ...FORM, ...headers },
    ...(body === undefined ? {} : { body }),
  });

async function expectRefusal(response: Response, { status, error, description }: Refusal) {
  const body = (await response.json()) as Record<string, string>;
  expect([response.status, body["error"]]).toEqual([status, error]);
  expect(Object.keys(body)).toEqual(["error", "error_description"]);
  expect(body["error_description"]).toMatch(description ?? /./);
  expect(body["error_description"]).toMatch(/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/);
  expect(response.headers.get("content-type")).toBe("application/json");
  expect(response.headers.get("cache-control")).toBe("no-store");
  expect(response.headers.get("x-request-id")).toMatch(/./);
}

const REFUSALS: readonly Refusal[] = [
  ...["/token", "/token/introspection", "/token/revocation", "/device/auth"].flatMap((path) => [
    {
      path,
      headers: { "content-encoding": "gzip" },
      body: "a",
      status: 415,
      error: "invalid_request",
    },
    {
      path,
      headers: { x_svc_user_id: "alice" },
      body: "a=b",
      status: 400,
      error: "invalid_request",
    },
    { path, body: "a".repeat(5_000_000), status: 413, error: "invalid_request" },
  ]),
  ...["/token", "/jwks", "/me", "/.well-known/openid-configuration", "/auth", "/none"].flatMap(
    (path) =>
      ["DELETE", "PUT"].map((method) => ({ method, path, status: 405, error: "invalid_request" })),
  ),
  {
    method: "GET",
    path: "/AUTH",
    status: 404,
    error: "invalid_request",
    description: /no such page/,
  },
  { path: "/token/%ff", status: 400, error: "invalid_request" },
  // Whoever asks: it is not a page.
  {
    method: "DELETE",
    path: "/token",
    headers: { accept: "text/html" },
    status: 405,
    error: "invalid_request",
  },
  {
    path: "/token",
    headers: { accept: "text/html", "content-encoding": "gzip" },
    body: "a",
    status: 415,
    error: "invalid_request",
  },
];

test.each(REFUSALS.map((refusal) => ({ ...refusal, method: refusal.method ?? "POST" })))(
  "$method $path with $headers is $status $error",
  async (refusal) => {
    await expectRefusal(await send(iam, refusal), refusal);
  },
);

/** The methods of each endpoint. */
const ENDPOINTS: readonly (readonly [path: string, allow: string])[] = [
  ...["/token", "/token/introspection", "/token/revocation", "/device/auth"].map(
    (path) => [path, "POST, OPTIONS"] as const,
  ),
  ["/session/end/confirm", "POST, OPTIONS"],
  ...["/device", "/auth", "/session/end"].map(
    (path) => [path, "GET, HEAD, POST, OPTIONS"] as const,
  ),
  ...["/jwks", "/.well-known/openid-configuration", "/.well-known/oauth-authorization-server"].map(
    (path) => [path, "GET, HEAD, OPTIONS"] as const,
  ),
  ...["/session/end/success", "/auth/an-id", "/device/an-id"].map(
    (path) => [path, "GET, HEAD, OPTIONS"] as const,
  ),
];
const OTHER_METHODS = ENDPOINTS.flatMap(([path, allow]) =>
  ["GET", "HEAD", "POST", "PUT", "DELETE"]
    .filter((method) => !allow.split(", ").includes(method))
    .map((method) => [method, path, allow] as const),
);

test.each([
  ...OTHER_METHODS,
  ["GET", "/TOKEN/", "POST, OPTIONS"],
  ["GET", "/Token/Revocation", "POST, OPTIONS"],
  ["POST", "/.WELL-KNOWN/openid-configuration", "GET, HEAD, OPTIONS"],
] as const)("%s %s is refused, with the methods %s", async (method, path, allow) => {
  const refusal = { method, path, status: 405, error: "invalid_request" };
  const response = await send(iam, refusal);
  expect(response.headers.get("allow")).toBe(allow);
  if (method !== "HEAD") return expectRefusal(response, refusal);
  expect([response.status, await response.text()]).toEqual([405, ""]);
  expect(response.headers.get("cache-control")).toBe("no-store");
});

test.each(ENDPOINTS)("OPTIONS %s names the methods %s", async (path, allow) => {
  const response = await send(iam, { method: "OPTIONS", path } as Refusal);
  expect([response.status, response.headers.get("allow")]).toEqual([204, allow]);
});

test.each(["POST", "DELETE"])(
  "%s of the metadata at its place for OAuth is refused",
  async (method) => {
    const path = `/.well-known/oauth-authorization-server${OIDC}`;
    for (const accept of ["*/*", "text/html"]) {
      const response = await fetch(`${iam.origin}${path}`, {
        method,
        headers: { ...FORM, accept },
      });
      expect(response.headers.get("allow")).toBe("GET, HEAD, OPTIONS");
      await expectRefusal(response, { path, status: 405, error: "invalid_request" });
    }
  },
);

test.each(["PUT", "DELETE"])("a browser gets a page for %s", async (method) => {
  const headers = { accept: "text/html,*/*" };
  const page = { method, path: "/session/end", headers, status: 405, error: "" };
  const response = await send(iam, page);
  expect(response.status).toBe(405);
  expect(response.headers.get("content-type")).toContain("text/html");
  expect(response.headers.get("allow")).toContain("GET");
  const program = { method, path: "/jwks", headers, status: 405, error: "invalid_request" };
  await expectRefusal(await send(iam, program), program);
});

test.each(["", "/", "/nothing", "/me", "/reg", "/request", "/token/x", "/jwks/x", "/session"])(
  "the path %j, which the provider does not have, is not found",
  async (path) => {
    for (const method of ["GET", "POST", "OPTIONS"]) {
      const refusal = { method, path, status: 404, error: "invalid_request" };
      await expectRefusal(await send(iam, refusal), refusal);
    }
  },
);

test("a browser that opens a login with another spelling gets a page", async () => {
  const init = { headers: { accept: "text/html,*/*" } };
  const response = await fetch(`${iam.origin}${OIDC}/AUTH`, init);
  expect(response.status).toBe(404);
  expect(response.headers.get("content-type")).toContain("text/html");
});

test("over the rate limit of logins it is temporarily_unavailable, with the time to wait", async () => {
  // Nothing is allowed again while the calls take their time.
  const now = vi.spyOn(performance, "now").mockReturnValue(performance.now());
  onTestFinished(() => now.mockRestore());
  let response: Response;
  let count = 0;
  do {
    const calls = Array.from({ length: 50 }, () =>
      send(iam, { method: "GET", path: "/auth" } as Refusal),
    );
    const responses = await Promise.all(calls);
    response = responses.find(({ status }) => status === 429) ?? (responses[0] as Response);
    count += calls.length;
  } while (response.status !== 429 && count < 1_000);
  expect(response.headers.get("retry-after")).toMatch(/^\d+$/);
  await expectRefusal(response, { path: "/auth", status: 429, error: "temporarily_unavailable" });
});

test("while the clock is wrong it is temporarily_unavailable, except for what does not depend on it", async () => {
  const clock = { problem: "the clock is 3600 s ahead" };
  const one = await startProvider({ clock });
  for (const path of ["/token", "/token/introspection", "/device/auth", "/me"]) {
    const refusal = { path, body: "a=b", status: 503, error: "temporarily_unavailable" };
    const response = await send(one, refusal);
    expect(response.headers.get("retry-after")).toBe("5");
    await expectRefusal(response, { ...refusal, description: /the clock/ });
  }
  expect((await fetch(`${one.origin}${OIDC}/jwks`)).status).toBe(200);
});

test("a defect is server_error, and names the request by which the log has it", async () => {
  const one = await startIam({ logLevel: "silent" });
  try {
    // The quota of device logins is in it.
    await databaseOf(one).kysely.schema.dropTable("iam_throttles").execute();
    const refusal = {
      path: "/device/auth",
      body: "client_id=x",
      status: 500,
      error: "server_error",
    };
    const headers = { "x-request-id": "request-of-a-device" };
    const response = await send(one, { ...refusal, headers });
    await expectRefusal(response, { ...refusal, description: /request-of-a-device$/ });
  } finally {
    await one.stop();
  }
});
