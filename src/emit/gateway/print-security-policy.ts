import {
  CORS_METHODS,
  CORS_REQUEST_HEADERS,
  EXPOSED_HEADERS,
  RPC_EXPOSED_HEADERS,
  RPC_REQUEST_HEADERS,
} from "../../api/cors-headers.ts";
import type { FrontendPlan } from "./plan.ts";
import type { CorsPlan, LoginPolicyPlan, OpenPolicyPlan, SessionPlan } from "./plan-policies.ts";

/** The maximum number of claim values in one authorization rule. */
const MAX_CLAIM_VALUES = 128;

/** The policy of authenticated routes: session, token, claims, owners. */
export function loginSpec({ name, login, cors }: FrontendPlan): Record<string, unknown> {
  const { session } = login;
  return {
    ...(cors === undefined ? {} : { cors: corsSpec(cors) }),
    ...(session === undefined ? {} : { oidc: oidcSpec(name, login.issuer, session) }),
    jwt: { providers: [jwtProvider(name, login)] },
    ...(login.allowedOwners.length === 0
      ? {}
      : { authorization: ownerRules(name, login.allowedOwners) }),
  };
}

/** The policy of PUBLIC routes. */
export function openSpec(
  open: OpenPolicyPlan,
  cors: CorsPlan | undefined,
): Record<string, unknown> {
  return {
    ...(cors === undefined ? {} : { cors: corsSpec(cors) }),
    ...(open.allow ? { authorization: { defaultAction: "Allow" } } : {}),
  };
}

function oidcSpec(frontend: string, issuer: string, login: SessionPlan): Record<string, unknown> {
  return {
    provider: {
      issuer,
      // Both are set, since Envoy Gateway would otherwise use discovery.
      authorizationEndpoint: login.authorizationEndpoint,
      tokenEndpoint: login.tokenEndpoint,
      ...(login.endSessionEndpoint === undefined
        ? {}
        : { endSessionEndpoint: login.endSessionEndpoint }),
    },
    clientID: login.clientId,
    clientSecret: { group: "", kind: "Secret", ...login.clientSecret },
    redirectURL: login.redirectUrl,
    logoutPath: login.logoutPath,
    scopes: ["openid", "profile", "email"],
    refreshToken: true,
    forwardAccessToken: true,
    passThroughAuthHeader: true,
    // Frontends may share a host, and cookies belong to the host.
    cookieNames: { accessToken: `AccessToken-${frontend}`, idToken: `IdToken-${frontend}` },
    cookieConfig: { sameSite: "Lax" },
    csrfTokenTTL: login.loginTimeout,
    ...(login.denyRedirect ? { denyRedirect: { headers: SCRIPT_HEADERS } } : {}),
  };
}

/** Headers with which a browser or library shows that a script calls, not a person who opens a page. */
const SCRIPT_HEADERS = [
  { name: "Sec-Fetch-Dest", type: "Exact", value: "empty" },
  { name: "Sec-Fetch-Mode", type: "Exact", value: "cors" },
  { name: "X-Requested-With", type: "Exact", value: "XMLHttpRequest" },
];

function jwtProvider(name: string, login: LoginPolicyPlan): Record<string, unknown> {
  return {
    name,
    // Envoy does not check an issuer or audience that is left out.
    issuer: login.issuer,
    audiences: login.audiences,
    remoteJWKS: { uri: login.jwksUri, cacheDuration: "600s" },
    // `forwardAccessToken` also puts the cookie's token there. Reading both would combine two
    // identities, and without a name, a token in the query would be accepted.
    extractFrom: { headers: [{ name: "Authorization", valuePrefix: "Bearer " }] },
    claimToHeaders: login.claims,
  };
}

function ownerRules(provider: string, owners: readonly string[]): Record<string, unknown> {
  const rules: Record<string, unknown>[] = [];
  for (let start = 0; start < owners.length; start += MAX_CLAIM_VALUES) {
    const values = owners.slice(start, start + MAX_CLAIM_VALUES);
    rules.push({
      name: `owner-${rules.length + 1}`,
      action: "Allow",
      principal: { jwt: { provider, claims: [{ name: "owner", valueType: "String", values }] } },
    });
  }
  return { defaultAction: "Deny", rules };
}

/** CORS for the gateway (docs/requirements.md, TRANS-5), with the headers of Connect and gRPC-Web clients. */
function corsSpec(cors: CorsPlan): Record<string, unknown> {
  return {
    allowOrigins: cors.origins,
    allowMethods: [...CORS_METHODS],
    allowHeaders: [
      ...CORS_REQUEST_HEADERS,
      "Traceparent",
      "Tracestate",
      ...(cors.connect ? RPC_REQUEST_HEADERS : []),
    ],
    exposeHeaders: exposedHeaders(cors),
    maxAge: "3600s",
    allowCredentials: true,
  };
}

/** The response headers that pages of other origins may read. */
export function exposedHeaders({ connect }: CorsPlan): string[] {
  return [...EXPOSED_HEADERS, "Content-Length", ...(connect ? RPC_EXPOSED_HEADERS : [])];
}
