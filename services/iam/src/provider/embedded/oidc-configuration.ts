import type { Client, Configuration, KoaContextWithOIDC } from "oidc-provider";
import { INTERACTION_PATH, PROVIDER_PATH } from "../../config/provider-paths.ts";
import type { Pages } from "../../pages/provider-pages.ts";
import { ClientAdapter } from "./account-clients.ts";
import type { AdapterContext } from "./adapter/adapter-context.ts";
import { DocumentAdapter } from "./adapter/document-adapter.ts";
import type { ProviderStores } from "./adapter/provider-stores.ts";
import { clientMetadata } from "./client-metadata.ts";
import {
  clientsOf,
  type EmbeddedProviderOptions,
  LOGIN_TIMES,
  sessionCookieName,
} from "./embedded-options.ts";
import { ALGORITHM, type SigningKey } from "./keys/signing-keys.ts";
import { loginPolicy } from "./request/login-policy.ts";
import { describeFailure } from "./request/provider-failure.ts";
import { requestScope } from "./request/request-scope.ts";
import { RESPONSE_TYPE } from "./response-forms.ts";
import { ACCOUNT_PROPERTY, serviceAccountOf } from "./service-accounts/account-client.ts";
import { refuseAssertion } from "./service-accounts/refuse-assertion.ts";
import { rememberSigner } from "./service-accounts/used-key.ts";
import { loadGrant } from "./tokens/load-grant.ts";
import { mayRevoke } from "./tokens/may-revoke.ts";
import { refuseWithoutScope } from "./tokens/required-scope.ts";
import { ACCESS_TOKEN_SECONDS, RESOURCE, SCOPES } from "./tokens/scopes.ts";
import { accountClaims, grantedClaims, serviceAccountClaims } from "./tokens/token-claims.ts";

/** How long somebody may take to log in, in seconds. */
const INTERACTION_SECONDS = 1800;
/** How long a device waits for its approval, in seconds. */
const DEVICE_CODE_SECONDS = 600;

type OidcErrors = typeof import("oidc-provider")["errors"];
type OidcPolicy = typeof import("oidc-provider")["interactionPolicy"];

/** What the configuration is made of. */
export interface ConfigurationParts {
  readonly options: EmbeddedProviderOptions;
  readonly keys: readonly SigningKey[];
  readonly stores: ProviderStores;
  readonly context: AdapterContext;
  readonly pages: Pages;
  readonly errors: OidcErrors;
  readonly policy: OidcPolicy;
}

const FETCH_TIMEOUT_MS = 3000;
/** Outlives all that it has issued. */
const GRANT_DAYS = 365;
const DAY_SECONDS = 86_400;
/** Of browsers that never log in: the code of a device does not last as long. */
const ANONYMOUS_SESSION_SECONDS = 900;

/** How clients authenticate that have something for it. */
const CREDENTIALS = ["client_secret_basic", "private_key_jwt"] as const;
/** By which algorithms they sign assertions. */
const ASSERTION_ALGORITHMS = ["RS256", "PS256", "ES256", "EdDSA", "Ed25519"] as const;

/** What discovery says of how clients authenticate at an endpoint: without it, by HTTP Basic alone (RFC 8414). */
function authenticationAt(endpoint: string, methods: readonly string[]) {
  return {
    [`${endpoint}_auth_methods_supported`]: methods,
    [`${endpoint}_auth_signing_alg_values_supported`]: ASSERTION_ALGORITHMS,
  };
}

/** The configuration of `oidc-provider`: a new one for each instance, which changes it. */
export function oidcConfiguration(parts: ConfigurationParts): Configuration {
  const { options, keys, pages } = parts;
  const { publicUrl, accounts, organization } = options;
  const clients = clientsOf(options);
  const isSecure = publicUrl.startsWith("https:");
  const times = options.loginTimes ?? LOGIN_TIMES;
  const now = options.now ?? Date.now;
  const prefix = isSecure ? "__Secure-" : "";
  const cookie = { httpOnly: true, sameSite: "lax", signed: false, secure: isSecure } as const;
  /** The seconds until the absolute end of what began at a time. */
  const untilEnd = (since = Math.floor(now() / 1000)): number =>
    Math.max(1, since + Math.floor(times.absoluteMs / 1000) - Math.floor(now() / 1000));
  const declared = new Map(clients.map((client) => [client.id, client]));
  const audienceOf = (client: Client): readonly string[] =>
    declared.get(client.clientId)?.audience ?? serviceAccountOf(client)?.account.audience ?? [];
  const programClaims = (client: Client | undefined, jti: string) => {
    const login = serviceAccountOf(client);
    if (login === undefined) {
      const declaration = declared.get(client?.clientId ?? "");
      // It has no session; what ends a token by its session's id ends this one alone.
      return declaration && { ...serviceAccountClaims(declaration, organization), sid: jti };
    }
    const { id, displayName: name } = login.account;
    const key = requestScope.getStore()?.usedKey;
    if (key === undefined) throw new Error("a service account was authenticated without a key");
    return { ...serviceAccountClaims({ id, name }, organization), sid: key.sid };
  };
  return {
    adapter: (model: string) =>
      (model === "Client"
        ? new ClientAdapter(options.serviceAccounts, parts.context.hasAssertion)
        : new DocumentAdapter(model, parts.stores, options.box, parts.context, {
            sessionIdleMs: times.idleMs,
            sessionMs: times.absoluteMs,
            now,
          })) as never,
    jwks: { keys: keys.map((key) => ({ ...key })) as never },
    clients: clients.map(clientMetadata),
    extraClientMetadata: { properties: [ACCOUNT_PROPERTY] },
    async assertJwtClientAuthClaimsAndHeader(ctx, claims, header, client) {
      refuseAssertion({ header, claims }, now(), parts.errors);
      await rememberSigner(ctx, client, parts.errors);
    },
    clientAuthMethods: [...CREDENTIALS, "none"],
    discovery: {
      ...authenticationAt("revocation_endpoint", [...CREDENTIALS, "none"]),
      // Whoever needs no credentials gets no answer.
      ...authenticationAt("introspection_endpoint", CREDENTIALS),
    },
    responseTypes: [RESPONSE_TYPE],
    scopes: [...SCOPES],
    // By its checks of further parameters, which come after that of the redirect URI.
    extraParams: { scope: (ctx) => refuseWithoutScope(ctx, parts.errors) },
    claims: {
      acr: null,
      auth_time: null,
      iss: null,
      sid: null,
      openid: ["sub"],
      profile: ["name", "preferred_username", "displayName", "owner", "id", "subject_type"],
      email: ["email"],
    },
    enabledJWA: {
      clientAuthSigningAlgValues: [...ASSERTION_ALGORITHMS],
      idTokenSigningAlgValues: [ALGORITHM],
    },
    pkce: { required: () => true },
    allowOmittingSingleRegisteredRedirectUri: false,
    acceptQueryParamAccessTokens: false,
    clientBasedCORS: () => false,
    cookies: {
      names: {
        session: sessionCookieName(publicUrl),
        interaction: `${prefix}iam_interaction`,
        resume: `${prefix}iam_resume`,
      },
      // Only the provider gets it, not the services of the same host.
      long: { ...cookie, path: PROVIDER_PATH } as never,
      short: cookie as never,
    },
    features: {
      backchannelLogout: { enabled: true },
      claimsParameter: { enabled: false },
      clientCredentials: { enabled: true },
      devInteractions: { enabled: false },
      deviceFlow: {
        enabled: true,
        charset: "base-20",
        mask: "****-****",
        deviceInfo: () => ({ ip: requestScope.getStore()?.call.clientAddress ?? "" }),
        userCodeInputSource(ctx, form, out, error) {
          if (error !== undefined && !isExposed(error)) describeFailure(ctx, error);
          return pages.deviceInput(ctx, form, out, error);
        },
        userCodeConfirmSource: pages.deviceConfirm,
        successSource: pages.deviceDone,
      },
      dPoP: { enabled: false },
      introspection: {
        enabled: true,
        // Services verify access tokens themselves; others learn nothing of them.
        allowedPolicy: (_ctx, client, token) =>
          client.clientAuthMethod !== "none" && token.clientId === client.clientId,
      },
      pushedAuthorizationRequests: { enabled: false },
      resourceIndicators: {
        enabled: true,
        defaultResource: (_ctx, client) => audienceOf(client)[0] ?? RESOURCE,
        useGrantedResource: () => true,
        getResourceServerInfo: (_ctx, resource, client) => {
          const own = audienceOf(client);
          // Who has a list gets no token for another audience.
          const audience =
            resource === RESOURCE && own.length === 0
              ? client.clientId
              : own.find((one) => one === resource);
          if (audience === undefined) throw new parts.errors.InvalidTarget();
          return {
            scope: SCOPES.join(" "),
            audience,
            accessTokenTTL: secondsOfToken(now()),
            accessTokenFormat: "jwt",
            jwt: { sign: { alg: ALGORITHM } },
          };
        },
      },
      revocation: {
        enabled: true,
        allowedPolicy: (_ctx, client, token) => mayRevoke(client, token, parts.errors),
      },
      rpInitiatedLogout: {
        enabled: true,
        logoutSource: pages.logout,
        postLogoutSuccessSource: pages.loggedOut,
      },
      userinfo: { enabled: false },
    },
    extraTokenClaims: (ctx, token) => {
      if (token.kind === "ClientCredentials") {
        return programClaims(ctx.oidc.client, token.jti);
      }
      const { account } = ctx.oidc.account as unknown as FoundAccount;
      return { ...grantedClaims(account, token.scopes), sid: token.sid };
    },
    findAccount: async (_ctx, id) => {
      const account = await accounts.find(id);
      if (account === undefined || account.disabled) return undefined;
      const found: FoundAccount = {
        accountId: account.id,
        account,
        claims: async () => ({ sub: account.id, ...accountClaims(account) }),
      };
      return found;
    },
    loadExistingGrant: (ctx) => loadGrant(ctx, declared),
    interactions: {
      url: (_ctx, { uid }) => `${INTERACTION_PATH}/${uid}`,
      policy: loginPolicy(parts.policy, options.factors),
    },
    // Gateways ask for no `offline_access`, yet refresh.
    issueRefreshToken: (_ctx, client) => client.grantTypeAllowed("refresh_token"),
    // A device stays logged in when the browser that has approved it logs out.
    expiresWithSession: (_ctx, source) => source.kind !== "DeviceCode",
    rotateRefreshToken: () => true,
    revokeGrantPolicy: (ctx) =>
      !(ctx.oidc.route === "revocation" && ctx.oidc.entities.AccessToken !== undefined),
    renderError: (ctx, out, error) =>
      pages.error(ctx, isExposed(error) ? out : describeFailure(ctx, error), error),
    // Only to declared addresses, so without its dispatcher, which refuses those of private networks.
    fetch(url, given = {}) {
      const { dispatcher: _, ...init } = given as RequestInit & { dispatcher?: unknown };
      const signal = AbortSignal.timeout(options.fetchTimeoutMs ?? FETCH_TIMEOUT_MS);
      return globalThis.fetch(url, { ...init, signal });
    },
    ttl: {
      AccessToken: ACCESS_TOKEN_SECONDS,
      AuthorizationCode: 60,
      ClientCredentials: () => secondsOfToken(now()),
      DeviceCode: DEVICE_CODE_SECONDS,
      Grant: GRANT_DAYS * DAY_SECONDS,
      IdToken: ACCESS_TOKEN_SECONDS,
      Interaction: INTERACTION_SECONDS,
      RefreshToken: (_ctx: KoaContextWithOIDC, token: { iiat?: number }) =>
        Math.min(Math.floor(times.idleMs / 1000), untilEnd(token.iiat)),
      Session: (_ctx: KoaContextWithOIDC, session: { loginTs?: number }) => {
        const { loginTs } = session;
        return loginTs === undefined ? ANONYMOUS_SESSION_SECONDS : untilEnd(loginTs);
      },
    } as never,
  };
}

/** Whether it is an error of OAuth, and not one of the service. */
function isExposed(error: Error): boolean {
  return "expose" in error && error.expose === true;
}

/** How long an access token is valid: not longer than the key of a service account that it is issued for. */
function secondsOfToken(now: number): number {
  const { expireTime = Number.POSITIVE_INFINITY } = requestScope.getStore()?.usedKey ?? {};
  const left = Math.floor((expireTime - now) / 1000);
  return Math.max(1, Math.min(ACCESS_TOKEN_SECONDS, left));
}

/** What `findAccount` returns. */
interface FoundAccount {
  readonly accountId: string;
  readonly account: import("../../people/accounts/account.ts").Account;
  readonly claims: () => Promise<{ sub: string }>;
  readonly [key: string]: unknown;
}
