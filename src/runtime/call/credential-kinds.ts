import type { AuthnSources } from "../../api/authn-mode.ts";

/** What distinguishes a kind of credential: all that the runtime decides by the kind. */
interface CredentialTraits {
  /** The exposure that only it opens, and the key of `security.authn.internal_call` with its tokens. */
  readonly opens?: {
    readonly exposure: "INTERNAL" | "SYSTEM";
    readonly key: "token" | "system_token";
  };
  /** Whether a service sends it as itself: then credentials of others that it passes on do not count. */
  readonly isOfService: boolean;
  /**
   * Whether a browser sends it by itself, also for a page of another site (docs/requirements.md,
   * HDR-9); `ifForwarded` where a trusted peer may have made it from what the browser sent.
   */
  readonly sentByBrowser: "always" | "ifForwarded" | "never";
  /** Its scheme in `WWW-Authenticate`, if a caller without it could send it. */
  readonly challenge?: string;
  /** What reads it, if modes of authentication do. */
  readonly mode?: {
    /** Which modes read it. */
    readonly source: keyof AuthnSources;
    /** What it is, for the log. */
    readonly what: string;
    /** The header of which the log says that a mode ignores it. */
    readonly header?: string;
  };
}

/** A kind of credential is a row here; the order is that of the log. */
const TRAITS = {
  none: { isOfService: false, sentByBrowser: "never" },
  jwt: {
    isOfService: false,
    // The gateway may turn its session into an access token; a page cannot send one without CORS.
    sentByBrowser: "ifForwarded",
    challenge: "Bearer",
    mode: { source: "tokens", what: "a JWT in Authorization", header: "Authorization" },
  },
  gateway: {
    isOfService: false,
    sentByBrowser: "always",
    mode: { source: "headers", what: "identity headers of trusted peers" },
  },
  internal: {
    opens: { exposure: "INTERNAL", key: "token" },
    isOfService: true,
    sentByBrowser: "never",
  },
  system: {
    opens: { exposure: "SYSTEM", key: "system_token" },
    isOfService: true,
    sentByBrowser: "never",
  },
  cookie: { isOfService: false, sentByBrowser: "always" },
} as const satisfies Readonly<Record<string, CredentialTraits>>;

/** The kind of credential that identified the caller. */
export type CredentialKind = keyof typeof TRAITS;

/** The names of all kinds. */
export const CREDENTIAL_KINDS = Object.keys(TRAITS) as readonly CredentialKind[];

/**
 * What distinguishes a kind of credential.
 *
 * @throws Error for an unknown kind, which an authenticator without types may name
 */
export function credentialTraits(kind: CredentialKind): CredentialTraits {
  if (!Object.hasOwn(TRAITS, kind)) {
    const known = CREDENTIAL_KINDS.filter((name) => name !== "none").join(", ");
    throw new Error(`an authenticator names the kind of credential ${kind}: write one of ${known}`);
  }
  return TRAITS[kind];
}

/** The value of `WWW-Authenticate` for a caller without a credential (RFC 9110). */
const CHALLENGES: string = CREDENTIAL_KINDS.flatMap(
  (kind) => credentialTraits(kind).challenge ?? [],
).join(", ");

/**
 * The value for one whose Bearer token is not accepted (RFC 6750, section 3.1). Why, is said in the message only.
 */
const INVALID_TOKEN = CHALLENGES.replace("Bearer", 'Bearer error="invalid_token"');

/** What is known of the credentials of a call that is refused. */
export interface CallCredentials {
  /** Whether it has a Bearer token that was not accepted. */
  readonly refusedBearer: boolean;
}

/** The value of `WWW-Authenticate` for a call, or for a request that became none. */
export function challengesOf(call: CallCredentials | undefined): string {
  return call?.refusedBearer === true ? INVALID_TOKEN : CHALLENGES;
}
