import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { CasdoorDirectoryData } from "./casdoor-data.ts";
import { type CasdoorAnswer, CasdoorOauth } from "./casdoor-oauth.ts";
import { type CasdoorKey, casdoorKey } from "./casdoor-tokens.ts";

/** The application that logs people in and calls the management API. */
export const APPLICATION = {
  name: "app-iam",
  clientId: "2f6c1a54e0b94a2d8c11",
  clientSecret: "1b6d3c8e+secret/of:the=application",
  redirectUris: ["https://console.example.com/callback"],
};

type Intercept = (request: IncomingMessage, response: ServerResponse) => boolean | Promise<boolean>;

/**
 * A server that behaves as Casdoor's documentation says (https://casdoor.org/docs: the public API,
 * OAuth, OpenID Connect discovery, tokens). It is not Casdoor.
 */
export interface StandInCasdoor {
  readonly origin: string;
  /** Where browsers reach it: its configuration `origin`. */
  readonly issuer: string;
  readonly oauth: CasdoorOauth;
  /** What is registered at the application. */
  readonly redirectUris: string[];
  readonly data: CasdoorDirectoryData;
  /** The key of another organization, which the key set of all applications has too. */
  readonly foreignKey: CasdoorKey;
  /** The requests so far, `GET /api/get-user`. */
  readonly requests: string[];
  /** Answers requests before the stand-in does, if it returns true. */
  intercept: Intercept | undefined;
  /** Opens a page as a browser, and returns where it leads. */
  visit(url: string): Promise<URL>;
  close(): Promise<void>;
}

/** For paths that it does not know, Casdoor serves its frontend. */
const PAGE = "<!doctype html><html><body><div id=root></div></body></html>";

/** @param issuer its configuration `origin`; empty: where it listens */
export async function startCasdoor(issuer = ""): Promise<StandInCasdoor> {
  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const external = issuer || origin;
  const [key, foreignKey] = await Promise.all([casdoorKey("cert-iam"), casdoorKey("cert-other")]);
  const redirectUris = [...APPLICATION.redirectUris];
  const oauth = new CasdoorOauth(external, { ...APPLICATION, redirectUris }, key);
  const data = new CasdoorDirectoryData();
  const { clientId, clientSecret, name } = APPLICATION;
  const credentials = Buffer.from(`${clientId}:${clientSecret}`).toString("base64");

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { pathname, searchParams } = new URL(request.url ?? "", origin);
    casdoor.requests.push(`${request.method} ${pathname}`);
    if ((await casdoor.intercept?.(request, response)) === true) return;
    const body = request.method === "POST" ? await text(request) : "";
    send(response, await answer(pathname, searchParams, body, request));
  };
  const answer = async (
    path: string,
    query: URLSearchParams,
    body: string,
    { headers }: IncomingMessage,
  ): Promise<CasdoorAnswer> => {
    switch (path) {
      case "/.well-known/openid-configuration":
        return { status: 200, json: discoveryDocument(external) };
      case "/.well-known/jwks":
        return { status: 200, json: { keys: [foreignKey.jwk, key.jwk] } };
      case `/.well-known/${name}/jwks`:
        return { status: 200, json: { keys: [key.jwk] } };
      case "/login/oauth/authorize":
        return oauth.authorize(query);
      case "/api/login/oauth/access_token":
        return oauth.token(new URLSearchParams(body));
    }
    if (path === "/api/logout") return oauth.logout(query);
    if (!path.startsWith("/api/")) return { status: 200 };
    if (headers.authorization !== `Basic ${credentials}`) return failed("Unauthorized operation");
    if (path === "/api/delete-token") {
      return { status: 200, json: { status: "ok", data: oauth.deleteToken(JSON.parse(body)) } };
    }
    return data.answer(path.slice("/api/".length), query) ?? { status: 200 };
  };

  const casdoor: StandInCasdoor = {
    origin,
    issuer: external,
    oauth,
    redirectUris,
    data,
    foreignKey,
    requests: [],
    intercept: undefined,
    async visit(url) {
      const { pathname, search } = new URL(url);
      const response = await fetch(origin + pathname + search, { redirect: "manual" });
      return new URL(response.headers.get("location") ?? `error:${response.status}`);
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return casdoor;
}

/** Errors of the API have the status 200. */
export function failed(message: string): CasdoorAnswer {
  return { status: 200, json: { status: "error", msg: message, data: null, data2: null } };
}

function send(response: ServerResponse, { status, json, location }: CasdoorAnswer): void {
  if (location !== undefined) response.setHeader("Location", location);
  const type = json === undefined ? "text/html" : "application/json; charset=utf-8";
  response.writeHead(status, { "Content-Type": type });
  response.end(json === undefined ? PAGE : JSON.stringify(json));
}

function discoveryDocument(origin: string) {
  return {
    issuer: origin,
    authorization_endpoint: `${origin}/login/oauth/authorize`,
    token_endpoint: `${origin}/api/login/oauth/access_token`,
    userinfo_endpoint: `${origin}/api/userinfo`,
    jwks_uri: `${origin}/.well-known/jwks`,
    introspection_endpoint: `${origin}/api/login/oauth/introspect`,
    response_types_supported: ["code", "token", "id_token"],
    grant_types_supported: ["authorization_code", "refresh_token", "client_credentials"],
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: ["RS256", "RS512", "ES256", "ES384", "ES512"],
    code_challenge_methods_supported: ["S256"],
    scopes_supported: ["openid", "email", "profile", "address", "phone", "offline_access"],
    end_session_endpoint: `${origin}/api/logout`,
  };
}
