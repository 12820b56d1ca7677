import type { ServiceDatabase } from "svc-access/database";
import {
  type AuditRecorder,
  type Authenticator,
  type Job,
  type ProcessLogger,
  type RawHandler,
  ServiceError,
  type TokenVerifier,
} from "svc-access/runtime";
import type { LoadedIamConfig } from "../../config/load-iam-config.ts";
import { OWN_ACCOUNT_PATH } from "../../config/provider-paths.ts";
import type { MissingKeys } from "../../ground/secrets/missing-key-log.ts";
import { OutsideValues } from "../../ground/secrets/outside-values.ts";
import { readEncryptionKeys } from "../../ground/secrets/read-encryption-keys.ts";
import { SecretBox } from "../../ground/secrets/secret-box.ts";
import type { BrowserSessionTables } from "../../ground/store/browser-session-tables.ts";
import { FormTokens } from "../../pages/form-tokens.ts";
import type { PageDesign } from "../../pages/page-design.ts";
import type { FailedAttempts } from "../../people/accounts/throttle/failed-attempts.ts";
import type { IdentityProvider } from "../../provider/identity-provider.ts";
import { BrowserSessions } from "./browser-sessions.ts";
import { FreshTokens } from "./fresh-tokens.ts";
import type { LoginCallbacks } from "./login-callbacks.ts";
import { loginHandlers } from "./login-handlers.ts";
import { logoutHandler } from "./logout-handler.ts";
import { ACCOUNT_PATH, CALLBACK_PATH, LOGIN_PATH, LOGOUT_PATH } from "./paths.ts";
import { PendingLogins } from "./pending-logins.ts";
import { SessionAuthenticator } from "./session-authenticator.ts";

/** What the login of browsers is made with. */
export interface BrowserLoginParts {
  readonly configuration: LoadedIamConfig;
  readonly database: ServiceDatabase<BrowserSessionTables>;
  readonly callbacks: LoginCallbacks;
  readonly provider: IdentityProvider;
  readonly verifier: TokenVerifier;
  /** For what the provider does outside of calls. */
  readonly recorder: AuditRecorder;
  readonly attempts: FailedAttempts;
  readonly missingKeys: MissingKeys;
  readonly design: PageDesign;
  readonly logger: ProcessLogger;
}

/** The login of browsers, as parts of a server. */
export interface BrowserLogin {
  readonly authenticators: readonly Authenticator[];
  readonly rawHandlers: readonly RawHandler[];
  readonly jobs: readonly Job[];
}

const NS_PER_MS = 1_000_000;

/** A request for these paths has not passed the edge, which answers them. */
const OF_THE_EDGE: BrowserLogin = {
  authenticators: [],
  rawHandlers: [LOGIN_PATH, ACCOUNT_PATH, CALLBACK_PATH, LOGOUT_PATH].map((path) => ({
    path,
    handle: () => {
      throw new ServiceError(
        "RESOURCE_NOT_FOUND",
        "the edge logs browsers in (iam.browser_login: gateway)",
      );
    },
  })),
  jobs: [],
};

/**
 * Opens the login of browsers if `iam.browser_login` is `self`. With `gateway` the edge has its paths.
 *
 * @throws EncryptionKeyError if the encryption keys cannot be read
 */
export function openBrowserLogin(parts: BrowserLoginParts): BrowserLogin {
  const { configuration, database, callbacks, provider, verifier, recorder, attempts } = parts;
  const { design, logger } = parts;
  const { config, sections } = configuration;
  const { iam } = sections;
  if (iam.browser_login !== "self") return OF_THE_EDGE;
  const origin = iam.public_url;
  const source = { file: iam.encryption_key_file, environment: config.environment };
  const box = new SecretBox(readEncryptionKeys(source));
  const values = new OutsideValues(box, parts.missingKeys);
  const times = {
    idleMs: iam.sessions.idle_ns / NS_PER_MS,
    absoluteMs: iam.sessions.absolute_ns / NS_PER_MS,
  };
  const sessions = new BrowserSessions(database, box, times);
  // Tokens are refreshed before a call is known by its name, so its events are those of the process.
  const call = { clientAddress: "", audit: recorder, signal: new AbortController().signal };
  const fresh = new FreshTokens({ provider, sessions, verifier, call });
  return {
    authenticators: [new SessionAuthenticator({ sessions, fresh, verifier, logger })],
    rawHandlers: [
      ...loginHandlers({
        origin,
        provider,
        pending: new PendingLogins(values),
        callbacks,
        attempts,
        sessions,
        verifier,
        design,
        ownAccount: config.security.authn.provider === "embedded" ? OWN_ACCOUNT_PATH : undefined,
        logger,
      }),
      logoutHandler({ origin, provider, sessions, forms: new FormTokens(values), design, logger }),
    ],
    jobs: [{ name: "browser_sessions", every: "1m", run: () => sessions.removeExpired() }],
  };
}
