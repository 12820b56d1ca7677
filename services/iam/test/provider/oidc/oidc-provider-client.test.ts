import { createHash } from "node:crypto";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { inspect } from "node:util";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { ServiceError } from "svc-access/runtime";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import type { CodeExchange } from "../../../src/provider/identity-provider.ts";
import type { OidcClientOptions } from "../../../src/provider/oidc/oidc-client-options.ts";
import { OidcProviderClient } from "../../../src/provider/oidc/oidc-provider-client.ts";
import {
  CLIENT,
  REDIRECT_URI,
  type StandardProvider,
  startStandardProvider,
} from "../../support/standard-provider.ts";

const VERIFIER = "a-verifier-of-at-least-forty-three-characters-0123";
const CHALLENGE = createHash("sha256").update(VERIFIER).digest("base64url");

let provider: StandardProvider;
beforeAll(async () => {
  provider = await startStandardProvider();
});
afterAll(() => provider.close());

function clientOf(issuer: string, more: Partial<OidcClientOptions> = {}) {
  const logger = { error: vi.fn() };
  const client = new OidcProviderClient({
    issuer,
    clientId: CLIENT.id,
    clientSecret: CLIENT.secret,
    scopes: ["openid", "profile", "email"],
    logger,
    allowHttp: true,
    ...more,
  });
  return { client, logger };
}

/** Logs alice in, up to the callback. */
async function callback(
  client: OidcProviderClient,
  more: Partial<CodeExchange> = {},
): Promise<CodeExchange> {
  const url = await client.loginUrl({
    redirectUri: REDIRECT_URI,
    state: "a state",
    codeChallenge: CHALLENGE,
    nonce: "a nonce",
  });
  const back = await provider.logIn(url);
  expect(back.origin + back.pathname).toBe(REDIRECT_URI);
  expect(back.searchParams.get("state")).toBe("a state");
  return {
    code: back.searchParams.get("code") ?? "",
    redirectUri: REDIRECT_URI,
    codeVerifier: VERIFIER,
    nonce: "a nonce",
    issuer: back.searchParams.get("iss") ?? "",
    ...more,
  };
}

test("a code is exchanged, the refresh token refreshes, and a revoked one does not", async () => {
  const { client } = clientOf(provider.issuer);
  const tokens = await client.exchangeCode(await callback(client));
  expect(tokens.accessToken).not.toBe("");
  expect(tokens.idToken.split(".")).toHaveLength(3);
  expect(tokens.scopes).toEqual(["openid", "profile", "email"]);
  expect(tokens.expireTime).toBeGreaterThan(Date.now());
  const fresh = await client.refresh(tokens.refreshToken, []);
  expect(fresh.accessToken).not.toBe(tokens.accessToken);
  const fewer = await client.refresh(fresh.refreshToken, ["openid"]);
  expect(fewer.scopes).toEqual(["openid"]);
  await client.revoke(fewer.refreshToken, "refresh_token");
  await expect(client.refresh(fewer.refreshToken, [])).rejects.toMatchObject({
    code: "INVALID_ARGUMENT",
    message: "the identity provider does not accept the code or token",
  });
  // One that the provider does not know has ended.
  await client.revoke("unknown", undefined);
});

test.each<[string, Partial<CodeExchange>, string]>([
  ["33: another verifier", { codeVerifier: "x".repeat(43) }, "does not accept the code"],
  ["33: no verifier", { codeVerifier: "" }, "does not accept the code"],
  ["33: another code", { code: "another" }, "does not accept the code"],
  ["30: another redirect URI", { redirectUri: `${REDIRECT_URI}/` }, "does not accept the code"],
  ["32: another nonce", { nonce: "another" }, "the nonce is not that of the login"],
  ["34: another issuer", { issuer: "https://evil.example" }, "the callback is from another issuer"],
])("%s is refused", async (_, more, message) => {
  const { client } = clientOf(provider.issuer);
  await expect(client.exchangeCode(await callback(client, more))).rejects.toMatchObject({
    code: "INVALID_ARGUMENT",
    message: expect.stringContaining(message),
  });
});

test("33: a code is good once", async () => {
  const { client } = clientOf(provider.issuer);
  const exchange = await callback(client);
  await client.exchangeCode(exchange);
  await expect(client.exchangeCode(exchange)).rejects.toMatchObject({
    code: "INVALID_ARGUMENT",
  });
});

test("a wrong secret is the operator's fault, reported in the log and not to the caller", async () => {
  const { client, logger } = clientOf(provider.issuer, { clientSecret: "wrong" });
  await expect(client.exchangeCode(await callback(client))).rejects.toMatchObject({
    code: "UNAVAILABLE",
    message: "the identity provider does not answer",
  });
  expect(logger.error).toHaveBeenCalledOnce();
});

test("an ID token that another key has signed is UNAVAILABLE [IDP-14]", async () => {
  const { privateKey } = await generateKeyPair("RS256");
  const { publicKey } = await generateKeyPair("RS256");
  const jwk = { ...(await exportJWK(publicKey)), alg: "RS256", use: "sig" };
  const issuer = await startHostile(async (request, response) => {
    if (request.url === "/jwks") return json(200, { keys: [jwk] })(request, response);
    const forged = await new SignJWT({ sub: "alice" })
      .setProtectedHeader({ alg: "RS256" })
      .setIssuer(issuer)
      .setAudience(CLIENT.id)
      .setIssuedAt()
      .setExpirationTime("5m")
      .sign(privateKey);
    json(200, { access_token: "a", token_type: "bearer", id_token: forged })(request, response);
  });
  const { client, logger } = clientOf(issuer);
  await expect(client.refresh("a token", [])).rejects.toMatchObject({
    code: "UNAVAILABLE",
  });
  expect(inspect(logger.error.mock.calls[0], { depth: 9 })).toContain(
    "JWT signature verification failed",
  );
});

/** A provider that answers discovery as it should, and the rest as the test says. */
async function startHostile(
  answer: RequestListener,
  metadata: (origin: string) => object = () => ({}),
): Promise<string> {
  const server: Server = createServer((request, response) => {
    if (request.url !== "/.well-known/openid-configuration") return answer(request, response);
    const origin = originOf(server);
    response.setHeader("Content-Type", "application/json");
    response.end(
      JSON.stringify({
        issuer: origin,
        authorization_endpoint: `${origin}/auth`,
        token_endpoint: `${origin}/token`,
        revocation_endpoint: `${origin}/revoke`,
        jwks_uri: `${origin}/jwks`,
        response_types_supported: ["code"],
        ...metadata(origin),
      }),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return originOf(server);
}

function originOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const json = (status: number, body: unknown, headers: Record<string, string> = {}) =>
  ((_, response) => {
    response.writeHead(status, { "Content-Type": "application/json", ...headers });
    response.end(typeof body === "string" ? body : JSON.stringify(body));
  }) satisfies RequestListener;
const idToken = await new SignJWT({ sub: "alice" })
  .setProtectedHeader({ alg: "RS256" })
  .setAudience(CLIENT.id)
  .setIssuedAt()
  .setExpirationTime("5m")
  .sign((await generateKeyPair("RS256")).privateKey);
const unsigned = `${Buffer.from('{"alg":"none"}').toString("base64url")}.${Buffer.from("{}").toString("base64url")}.`;

test.each<[string, RequestListener]>([
  ["an error of its own", json(500, "oops")],
  ["a redirect, which is not followed", json(302, "", { Location: "http://127.0.0.1:1/" })],
  ["no JSON", json(200, "<html>")],
  ["no access token", json(200, { token_type: "bearer" })],
  ["another token type", json(200, { access_token: "a", token_type: "mac" })],
  ["2 MiB", json(200, { access_token: "a".repeat(2 ** 21), token_type: "bearer" })],
  ["nested JSON", json(200, "[".repeat(100_000))],
  ["a number as a token", json(200, { access_token: 1, token_type: "bearer" })],
  [
    "an expiry that is not a number",
    json(200, { access_token: "a", token_type: "bearer", expires_in: "x" }),
  ],
  [
    "16: an ID token that is not signed",
    json(200, { access_token: "a", token_type: "bearer", id_token: unsigned }),
  ],
  [
    "an ID token of no issuer",
    json(200, { access_token: "a", token_type: "bearer", id_token: idToken }),
  ],
  ["a broken connection", (request) => request.socket.destroy()],
  ["the client is not known", json(401, { error: "invalid_client" })],
  ["an unknown error with markup", json(400, { error: "<script>", error_description: "\r\nx" })],
])("a provider that answers with %s is UNAVAILABLE [IDP-14]", async (_, answer) => {
  const { client, logger } = clientOf(await startHostile(answer));
  const failed = await client.refresh("a token", []).catch((error: unknown) => error);
  expect(failed).toBeInstanceOf(ServiceError);
  expect(failed).toMatchObject({
    code: "UNAVAILABLE",
    message: "the identity provider does not answer",
  });
  expect(logger.error).toHaveBeenCalledOnce();
});

test.each<[string, (origin: string) => object]>([
  ["another issuer", () => ({ issuer: "https://evil.example" })],
  ["no token endpoint", () => ({ token_endpoint: undefined })],
  ["a token endpoint that is not a URL", () => ({ token_endpoint: "nowhere" })],
  ["a script as the login page", () => ({ authorization_endpoint: "javascript:alert(1)" })],
  ["a script as the logout page", () => ({ end_session_endpoint: "javascript:alert(1)" })],
])("a discovery document with %s is UNAVAILABLE [IDP-14]", async (_, metadata) => {
  const { client } = clientOf(await startHostile(json(200, {}), metadata));
  const request = { redirectUri: REDIRECT_URI, state: "s", codeChallenge: CHALLENGE, nonce: "" };
  const attempts = async () => {
    await client.loginUrl(request);
    await client.endLogin({ refreshToken: "", idToken: "" }, REDIRECT_URI);
    await client.refresh("a token", []);
  };
  await expect(attempts()).rejects.toMatchObject({ code: "UNAVAILABLE" });
});

test.each<[string, Record<string, string>, string | undefined]>([
  ["has no page for it", {}, undefined],
  ["cannot revoke tokens now", { end_session_endpoint: "http://localhost:1/end" }, "/end"],
])("the login at a provider that %s", async (_what, metadata, path) => {
  const revoked: string[] = [];
  const origin = await startHostile(
    (request, response) => {
      revoked.push(request.url ?? "");
      json(500, {})(request, response);
    },
    (own) => ({ revocation_endpoint: `${own}/revoke`, ...metadata }),
  );
  const { client } = clientOf(origin);
  const tokens = { refreshToken: "r", idToken: "i" };
  const url = await client.endLogin(tokens, "https://here.example/logout");
  expect(url && new URL(url).pathname).toBe(path);
  if (url !== undefined) {
    expect(Object.fromEntries(new URL(url).searchParams)).toMatchObject({
      id_token_hint: "i",
      post_logout_redirect_uri: "https://here.example/logout",
    });
  }
  expect(revoked).toEqual(["/revoke"]);
});

test("a discovery document elsewhere must have the issuer", async () => {
  const origin = await startHostile(json(200, {}));
  const discoveryUrl = `${origin}/.well-known/openid-configuration`;
  const { client, logger } = clientOf("https://id.example.com", { discoveryUrl });
  await expect(client.refresh("a token", [])).rejects.toMatchObject({ code: "UNAVAILABLE" });
  expect(inspect(logger.error.mock.calls[0], { depth: 9 })).toContain(
    `has the issuer ${origin}, not https://id.example.com`,
  );
});

test("an internal discovery document and token endpoint are used", async () => {
  const external = "https://id.example.com";
  const asked: string[] = [];
  const origin = await startHostile(
    (request, response) => {
      asked.push(request.url ?? "");
      json(400, { error: "invalid_grant" })(request, response);
    },
    () => ({ issuer: external, token_endpoint: `${external}/token` }),
  );
  const { client } = clientOf(external, {
    discoveryUrl: `${origin}/.well-known/openid-configuration`,
    endpoints: { token: `${origin}/internal-token` },
  });
  await expect(client.refresh("a token", [])).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  expect(asked).toEqual(["/internal-token"]);
});

test("plain HTTP is refused unless it is allowed", async () => {
  const { client } = clientOf(provider.issuer, { allowHttp: false });
  await expect(client.refresh("a token", [])).rejects.toMatchObject({
    code: "UNAVAILABLE",
  });
});

test("a provider that was away is asked again", async () => {
  let isAway = true;
  const { client } = clientOf(provider.issuer, {
    fetch: async (url, init) => {
      if (isAway) throw new TypeError("fetch failed");
      return fetch(url, init);
    },
  });
  await expect(client.refresh("a token", [])).rejects.toMatchObject({
    code: "UNAVAILABLE",
  });
  isAway = false;
  await expect(client.refresh("a token", [])).rejects.toMatchObject({
    code: "INVALID_ARGUMENT",
  });
});
