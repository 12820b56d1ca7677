import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from "jose";
import { freePort } from "../../support/free-port.ts";

/** The parts of an OpenID provider that a service uses: discovery, keys, and tokens signed by them. */
export interface TokenIssuer {
  readonly url: string;
  /** A token; the given claims replace the default ones. */
  token(claims?: JWTPayload): Promise<string>;
  /** A token with the same claims, signed by an unpublished key. */
  forged(claims?: JWTPayload): Promise<string>;
  /** The number of requests of the key set. */
  readonly requests: number;
  /** Stop and start the server, on the same port. */
  stop(): Promise<void>;
  start(): Promise<void>;
}

export const AUDIENCE = "vault-client";

export async function startTokenIssuer(): Promise<TokenIssuer> {
  const { privateKey, publicKey } = await generateKeyPair("RS256", { extractable: true });
  const other = await generateKeyPair("RS256", { extractable: true });
  const key = { ...(await exportJWK(publicKey)), kid: "one", alg: "RS256", use: "sig" };
  let server: Server | undefined;
  let port = 0;
  let requests = 0;
  const start = async () => {
    if (port === 0) port = await freePort();
    server = createServer((request, response) => {
      requests++;
      const body = request.url?.endsWith("openid-configuration")
        ? { issuer: url(), jwks_uri: `${url()}/keys` }
        : { keys: [key] };
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify(body));
    });
    await new Promise<void>((resolve) => server?.listen(port, "127.0.0.1", resolve));
    port = (server.address() as AddressInfo).port;
  };
  const url = () => `http://127.0.0.1:${port}`;
  const sign = (claims: JWTPayload, by: Parameters<SignJWT["sign"]>[0]) => {
    const now = Math.floor(Date.now() / 1000);
    return new SignJWT({
      iss: url(),
      aud: AUDIENCE,
      sub: "alice",
      iat: now,
      exp: now + 300,
      ...claims,
    })
      .setProtectedHeader({ alg: "RS256", kid: "one", typ: "JWT" })
      .sign(by);
  };
  await start();
  return {
    url: url(),
    token: (claims = {}) => sign(claims, privateKey),
    forged: (claims = {}) => sign(claims, other.privateKey),
    get requests() {
      return requests;
    },
    start,
    async stop() {
      server?.closeAllConnections();
      await new Promise<unknown>((resolve) => server?.close(resolve));
    },
  };
}

/** The claims of an expired token. */
export function expiredClaims(): JWTPayload {
  const now = Math.floor(Date.now() / 1000);
  return { iat: now - 7200, exp: now - 3600 };
}
