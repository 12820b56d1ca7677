import * as z from "zod/mini";
import {
  claimName,
  documented,
  duration,
  durationMs,
  httpUrl,
  identifiers,
  name,
  port,
  secret,
} from "./config-values.ts";

const WILDCARD_HOST = /^(\*\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/** The shortest time for a login. */
const MIN_LOGIN_MS = 30_000;

/** The section `identity`. */
export const identity = z.strictObject({
  issuer: documented("The issuer, exactly as the token's `iss` has it.", httpUrl()),
  authorization_endpoint: documented("The URL where the browser logs in.", httpUrl()),
  token_endpoint: documented(
    "The URL where the gateway exchanges a code; may be cluster-internal.",
    httpUrl(),
  ),
  end_session_endpoint: documented("The URL where the browser logs out.", z.optional(httpUrl())),
  jwks_uri: documented("The URL of the key set; may be cluster-internal.", httpUrl()),
  allowed_owners: documented(
    "The organizations whose tokens are accepted (claim `owner`); empty accepts all.",
    z._default(identifiers(0, 256), []),
  ),
  subject_type_claim: documented(
    "The claim that holds the subject type, `user` or `service_account`; absent, `subject_type` of IAM's own issuer (`…/v1/iam/oidc`), and none of any other.",
    z.optional(claimName()),
  ),
});

const listener = z.strictObject({
  name: documented("The name of the listener.", name()),
  port: documented("The port that it listens on.", port()),
  protocol: documented(
    "HTTPS, or HTTP for development.",
    z._default(z.enum(["HTTPS", "HTTP"]), "HTTPS"),
  ),
  hostname: documented(
    "The host that it serves; the default is all hosts.",
    z.optional(
      z
        .string()
        .check(
          z.regex(WILDCARD_HOST, "must be a host name, or one that starts with *."),
          z.maxLength(253),
        ),
    ),
  ),
  certificate: documented(
    "The Secret of the TLS certificate; needed with HTTPS.",
    z.optional(secret()),
  ),
});

/** The section `edge`. */
export const edge = z.strictObject({
  gateway: documented(
    "The Gateway that all routes attach to.",
    z.strictObject({
      name: documented("The name of the Gateway.", name()),
      namespace: documented("The namespace of the Gateway.", name()),
      class: documented("The name of its GatewayClass.", name()),
    }),
  ),
  listeners: documented(
    "The listeners of the Gateway.",
    z.array(listener).check(z.minLength(1), z.maxLength(64)),
  ),
  rate_limit: documented(
    "`local`: each Envoy counts separately; `global`: a rate-limit service counts.",
    z._default(z.enum(["local", "global"]), "local"),
  ),
  backstop: documented(
    "Whether a policy on the Gateway denies requests that no policy of a route covers.",
    z._default(z.boolean(), true),
  ),
  login_timeout: documented(
    "The time that a user has to log in at the provider, such as 4m; must be less than the lifetime of access tokens.",
    z._default(
      duration().check(
        z.refine((text) => (durationMs(text) ?? MIN_LOGIN_MS) >= MIN_LOGIN_MS, {
          error: "must be at least 30s, as a login takes some time",
        }),
      ),
      "4m",
    ),
  ),
});

/** The identity provider of the platform configuration. */
export type IdentityConfig = z.infer<typeof identity>;
/** The edge of the platform configuration. */
export type EdgeConfig = z.infer<typeof edge>;
