/** What the log says of a provider that does not work: the reason, and nothing about a person. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { createLogger, ServiceError } from "svc-access/runtime";
import { afterAll, beforeAll, expect, test } from "vitest";
import { OidcProviderClient } from "../../../src/provider/oidc/oidc-provider-client.ts";

const CLIENT_ID = "the-client";
const SECRET = "the secret of the client";
const OPAQUE = "opaque-4f1c9a7e";
/** Claims of a person, and texts that must not be in a log. */
const PERSON = {
  sub: "user-8842",
  email: "jane@x.io",
  name: "Jane Roe",
  phone_number: "+49301234",
};
const PRIVATE = [...Object.values(PERSON), OPAQUE, SECRET, "eyJ"];

const { privateKey, publicKey } = await generateKeyPair("ES256");
const jwk = { ...(await exportJWK(publicKey)), alg: "ES256", use: "sig" };
const other = await generateKeyPair("ES256");

let respond: (request: IncomingMessage, response: ServerResponse) => void;
const server = createServer((request, response) => {
  response.setHeader("Content-Type", "application/json");
  if (request.url === "/jwks") return void response.end(JSON.stringify({ keys: [jwk] }));
  if (request.url !== "/.well-known/openid-configuration") return respond(request, response);
  response.end(
    JSON.stringify({
      issuer: issuer(),
      authorization_endpoint: `${issuer()}/auth`,
      token_endpoint: `${issuer()}/token`,
      revocation_endpoint: `${issuer()}/revoke`,
      jwks_uri: `${issuer()}/jwks`,
      response_types_supported: ["code"],
      id_token_signing_alg_values_supported: ["ES256"],
    }),
  );
});
const issuer = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
beforeAll(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve)));
afterAll(() => {
  server.close();
  server.closeAllConnections();
});

function connect() {
  const lines: string[] = [];
  const logger = createLogger({ destination: { write: (line: string) => void lines.push(line) } });
  const client = new OidcProviderClient({
    issuer: issuer(),
    clientId: CLIENT_ID,
    clientSecret: SECRET,
    scopes: ["openid"],
    logger,
    allowHttp: true,
  });
  return { client, logger, lines };
}

async function idToken(claims: object = {}, key = privateKey): Promise<string> {
  const all = { iss: issuer(), aud: CLIENT_ID, ...PERSON, ...claims };
  const token = new SignJWT(all).setProtectedHeader({ alg: "ES256" }).setIssuedAt();
  return ("exp" in claims ? token : token.setExpirationTime("5m")).sign(key);
}

const tokens = async (token: Promise<string>) => ({
  access_token: OPAQUE,
  refresh_token: OPAQUE,
  token_type: "bearer",
  id_token: await token,
});
const base64 = (text: string) => Buffer.from(text).toString("base64url");
const signed = (claims: object) => () => tokens(idToken(claims));

/** A response of the token endpoint, its status, and what the log says. */
const REFUSED: readonly [string, () => unknown, number, string][] = [
  ["another audience", signed({ aud: "another" }), 200, "OAUTH_JWT_CLAIM_COMPARISON"],
  ["another issuer", signed({ iss: "https://jane@x.io" }), 200, "OAUTH_JWT_CLAIM_COMPARISON"],
  ["an expiry in the past", signed({ exp: 1 }), 200, "OAUTH_JWT_TIMESTAMP_CHECK_FAILED"],
  ["a subject that is not text", signed({ sub: 8842 }), 200, "OAUTH_INVALID_RESPONSE"],
  [
    "the signature of another key",
    () => tokens(idToken({}, other.privateKey)),
    200,
    "JWT signature verification failed",
  ],
  [
    "claims that are not JSON",
    () => tokens(Promise.resolve(`${base64('{"alg":"ES256"}')}.${base64("jane@x.io")}.AA`)),
    200,
    "OAUTH_PARSE_ERROR",
  ],
  ["text that is not JSON", () => `jane@x.io ${OPAQUE}`, 200, "SyntaxError"],
  [
    "a token type with an address",
    () => ({ access_token: OPAQUE, token_type: "jane@x.io" }),
    200,
    "UnsupportedOperationError",
  ],
  [
    "an error and its description",
    () => ({ error: "server_error", error_description: "jane@x.io", error_uri: OPAQUE }),
    400,
    "server_error status 400",
  ],
  ["an error with an address as its code", () => ({ error: "jane@x.io" }), 400, "an unknown code"],
  ["an error of its own", () => ({ message: "jane@x.io" }), 500, "status 500"],
];

test.each(REFUSED)(
  "the log has the reason for %s, and no personal data [IDP-14]",
  async (...row) => {
    const [, body, status, reason] = row;
    const text = await body();
    respond = (_, response) => {
      response.statusCode = status;
      response.end(typeof text === "string" ? text : JSON.stringify(text));
    };
    const { client, logger, lines } = connect();
    const error = await client.refresh(OPAQUE, []).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ServiceError);
    expect(error).toMatchObject({ code: "UNAVAILABLE" });
    // The runtime logs the cause with the call.
    logger.error({ error: (error as ServiceError).cause }, "call");
    expect(lines).toHaveLength(2);
    for (const line of lines) {
      expect(line.replaceAll('\\\\\\"', '"').replaceAll('\\"', '"')).toContain(reason);
      for (const secret of PRIVATE) expect(line).not.toContain(secret);
    }
  },
);

test("a refused code is not logged, and its error keeps nothing that the provider wrote", async () => {
  respond = (_, response) => {
    response.statusCode = 400;
    response.end(JSON.stringify({ error: "invalid_grant", error_description: "jane@x.io" }));
  };
  const { client, logger, lines } = connect();
  const error = await client.refresh(OPAQUE, []).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: "INVALID_ARGUMENT", details: { error: "invalid_grant" } });
  expect(lines).toHaveLength(0);
  logger.error({ error }, "call");
  for (const secret of PRIVATE) expect(lines.join("")).not.toContain(secret);
});

test("the log names the code of a connection that fails", async () => {
  respond = (request) => request.socket.destroy();
  const { client, lines } = connect();
  await expect(client.refresh(OPAQUE, [])).rejects.toMatchObject({ code: "UNAVAILABLE" });
  expect(lines.join("")).toContain("UND_ERR_SOCKET");
});
