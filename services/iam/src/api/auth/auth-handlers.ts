import { createHash, randomBytes } from "node:crypto";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { ServiceError } from "svc-access/runtime";
import { TokenKind } from "../../../gen/svc/iam/v1/auth_pb.ts";
import type { IAMAuthServiceHandlers } from "../../../gen/svc/iam/v1/auth_server.ts";
import { required } from "../../ground/rpc/request-fields.ts";
import type { IdentityProvider, RevocableKind, Tokens } from "../../provider/identity-provider.ts";
import type { CurrentUser } from "../me/current-user.ts";
import type { CurrentPreferences } from "../me/user-preferences.ts";
import type { ServiceRights } from "../permissions/service-rights.ts";
import { assertLoginRequest } from "./check-requests.ts";
import type { TokenCheck } from "./token-check.ts";

/** What the handlers need. */
export interface AuthHandlersOptions {
  readonly provider: IdentityProvider;
  readonly currentUser: CurrentUser;
  readonly preferences: CurrentPreferences;
  readonly tokens: TokenCheck;
  /** Where the identity provider may send browsers, compared exactly. */
  readonly redirectUris: ReadonlySet<string>;
  /** Whether the provider accepts no login without PKCE: then a verifier is made for whoever has none. */
  readonly requiresPkce: boolean;
  /** Which services may exchange and refresh tokens. */
  readonly rights: Pick<ServiceRights, "assertMayExchangeTokens">;
}

/** As RFC 7636 recommends for a verifier. */
const RANDOM_BYTES = 32;
const MAX_SCOPES = 64;

const KINDS: Readonly<Record<TokenKind, RevocableKind | undefined>> = {
  [TokenKind.UNSPECIFIED]: undefined,
  [TokenKind.ACCESS]: "access_token",
  [TokenKind.REFRESH]: "refresh_token",
};

/** The handlers of IAMAuthService. */
export function authHandlers(options: AuthHandlersOptions): IAMAuthServiceHandlers {
  const { provider, currentUser, preferences, tokens, rights } = options;
  return {
    async buildLoginURL(request, call) {
      assertLoginRequest(request, options.redirectUris);
      const { redirectUri, nonce } = request;
      const state = request.state || unguessable();
      // Whoever gives none is not refused: the login then is as safe as one whose caller made the verifier.
      const isMade = request.codeChallenge === "" && options.requiresPkce;
      const codeVerifier = isMade ? unguessable() : "";
      const codeChallenge = isMade ? challengeOf(codeVerifier) : request.codeChallenge;
      const loginUrl = await provider.loginUrl({ redirectUri, codeChallenge, nonce, state }, call);
      // The answer is one login's, and the verifier is a secret of it.
      call.setResponseHeader("Cache-Control", "no-store");
      return { loginUrl, state, codeVerifier };
    },

    async exchangeCode({ code, redirectUri, codeVerifier, nonce, issuer }, call) {
      rights.assertMayExchangeTokens(call);
      required("code", code);
      if (!options.redirectUris.has(required("redirect_uri", redirectUri))) {
        throw new ServiceError("INVALID_ARGUMENT", "redirect_uri is not a registered one");
      }
      const exchange = { code, redirectUri, codeVerifier, nonce, issuer };
      return { tokens: tokenSet(await provider.exchangeCode(exchange, call)) };
    },

    async refreshToken({ refreshToken, scopes }, call) {
      rights.assertMayExchangeTokens(call);
      required("refresh_token", refreshToken);
      if (scopes.length > MAX_SCOPES || scopes.some((scope) => !SCOPE.test(scope))) {
        throw new ServiceError("INVALID_ARGUMENT", "scopes must be names of scopes");
      }
      return { tokens: tokenSet(await provider.refresh(refreshToken, scopes, call)) };
    },

    verifyToken: ({ token }) => tokens.verify(required("token", token)),

    async revokeToken({ token, kind }, call) {
      required("token", token);
      if (!(kind in KINDS)) throw new ServiceError("INVALID_ARGUMENT", `kind ${kind} is not known`);
      await provider.revoke(token, KINDS[kind], call);
      return {};
    },

    getMe: async (_, context) => ({ user: await currentUser.get(context) }),
    updateMe: async (request, context) => ({ user: await currentUser.update(request, context) }),
    getUserPreferences: async (_, context) => ({ preferences: await preferences.get(context) }),
    updateUserPreferences: async (request, context) => ({
      preferences: await preferences.update(request, context),
    }),
  };
}

function unguessable(): string {
  return randomBytes(RANDOM_BYTES).toString("base64url");
}

/** The PKCE challenge of a verifier, of the method S256. */
function challengeOf(verifier: string): string {
  return createHash("sha256").update(verifier).digest("base64url");
}

/** The name of a scope (RFC 6749, 3.3). */
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]{1,256}$/;

function tokenSet({ accessToken, refreshToken, idToken, expireTime, scopes }: Tokens) {
  return {
    accessToken,
    tokenType: "Bearer",
    ...(expireTime === undefined ? {} : { expireTime: timestampFromMs(expireTime) }),
    refreshToken,
    idToken,
    scopes: [...scopes],
  };
}
