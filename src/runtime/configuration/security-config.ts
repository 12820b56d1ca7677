import * as z from "zod/mini";
import { documented, httpUrl } from "../../config/config-values.ts";
import { duration, file } from "./service-config-values.ts";

const SECOND = 1_000_000_000;
/** Shorter ones can be guessed. */
const MIN_TOKEN = 16;
const ALGORITHMS = ["RS256", "RS512", "ES256", "ES512"] as const;

const token = () =>
  z
    .string()
    .check(
      z.minLength(MIN_TOKEN, `must have ${MIN_TOKEN} characters at least; give it as \${VAR}`),
      z.maxLength(4096),
      z.regex(/^[\x21-\x7e]+$/, "must be printable ASCII without spaces"),
    );

const gateway = z.strictObject({
  trusted_peers: documented(
    "Whose identity headers count: CIDRs, IP addresses, or names of mTLS certificates.",
    z._default(
      z.array(z.string().check(z.minLength(1), z.maxLength(253))).check(z.maxLength(1024)),
      [],
    ),
  ),
  allow_any_peer: documented(
    "Must be true beside a list of peers that holds every address.",
    z._default(z.boolean(), false),
  ),
});

const oidc = z.strictObject({
  provider: documented("The provider's name, for the log.", z.optional(z.string())),
  issuer: documented("The issuer, exactly as the token's `iss` has it.", httpUrl()),
  discovery_url: documented(
    "The discovery document; absent, that of the issuer.",
    z.optional(httpUrl()),
  ),
  jwks_url: documented(
    "The key set; absent, that of the discovery document.",
    z.optional(httpUrl()),
  ),
  audience: documented(
    "The client ids that tokens may be for.",
    z
      .array(z.string().check(z.minLength(1), z.maxLength(256)))
      .check(z.minLength(1), z.maxLength(256)),
  ),
  allowed_owners: documented(
    "The organizations whose tokens are accepted (claim `owner`); empty accepts all.",
    z._default(
      z.array(z.string().check(z.minLength(1), z.maxLength(256))).check(z.maxLength(256)),
      [],
    ),
  ),
  allowed_algs: documented(
    "The signature algorithms that are accepted.",
    z._default(z.array(z.enum(ALGORITHMS)).check(z.minLength(1)), [...ALGORITHMS]),
  ),
  jwks_cache_ttl_ns: documented("How long keys are kept.", duration(600 * SECOND)),
  clock_skew_ns: documented(
    "How far clocks may differ.",
    z._default(z.int().check(z.minimum(0), z.maximum(600 * SECOND)), 60 * SECOND),
  ),
});

const casdoor = z.strictObject({
  endpoint: documented("Where it answers; may be cluster-internal.", httpUrl()),
  organization_name: documented("The organization.", z.string().check(z.minLength(1))),
  application_name: documented("The application.", z.string().check(z.minLength(1))),
  client_id: documented("The client id.", z.string().check(z.minLength(1))),
  client_secret: documented(
    "The client secret; give it as ${VAR}.",
    z.string().check(z.minLength(1)),
  ),
});

const internalCall = z.strictObject({
  enabled: documented("Whether internal tokens are accepted.", z._default(z.boolean(), false)),
  header: documented(
    "The header that carries them.",
    z._default(
      z.string().check(z.regex(/^[A-Za-z][A-Za-z0-9-]*$/, "must be a header name")),
      "X-Svc-Internal-Token",
    ),
  ),
  token: documented(
    "The token, or a list of {service, token}; give them as ${VAR}. Several of a service are accepted while they rotate.",
    z.optional(
      z.union([
        token(),
        z
          .array(
            z.strictObject({
              service: documented(
                "The service that calls with it: the subject id of its principal.",
                z.string().check(z.minLength(1), z.maxLength(256)),
              ),
              token: documented("The token.", token()),
            }),
          )
          .check(z.minLength(1), z.maxLength(1024)),
      ]),
    ),
  ),
  system_token: documented(
    "The token of SYSTEM calls; absent, nobody makes them.",
    z.optional(token()),
  ),
});

const authn = z.strictObject({
  enabled: documented("Whether callers are authenticated at all.", z._default(z.boolean(), true)),
  mode: documented(
    "How callers are authenticated (spec 5.1).",
    z._default(z.enum(["gateway_trusted", "idp_jwt", "hybrid", "disabled"]), "gateway_trusted"),
  ),
  provider: documented(
    "The kind of the identity provider.",
    z.optional(z.enum(["embedded", "oidc", "casdoor"])),
  ),
  cache_ttl_ns: documented("How long a verified token is remembered.", duration(300 * SECOND)),
  gateway: documented("Whose identity headers count.", z.prefault(gateway, {})),
  oidc: documented("How tokens are verified; needed with idp_jwt and hybrid.", z.optional(oidc)),
  casdoor: documented("The management API of Casdoor.", z.optional(casdoor)),
  internal_call: documented("Calls between services.", z.prefault(internalCall, {})),
});

const authz = z.strictObject({
  enabled: documented("Whether AUTHORIZED calls are checked.", z._default(z.boolean(), true)),
  provider: documented(
    "The kind of the authorization engine.",
    z._default(z.enum(["embedded", "spicedb"]), "embedded"),
  ),
  dev_allow_all: documented(
    "Whether every check allows; for development only.",
    z._default(z.boolean(), false),
  ),
  model: documented("The file of the authorization model.", z.optional(file())),
  spicedb: documented(
    "The SpiceDB; needed with that provider.",
    z.optional(
      z.strictObject({
        endpoint: documented(
          "Where it answers, host:port.",
          z
            .string()
            .check(
              z.regex(/^[^\s/:]+:[0-9]{1,5}$|^\[[0-9A-Fa-f:.]+\]:[0-9]{1,5}$/, "must be host:port"),
            ),
        ),
        token: documented(
          "The preshared key; give it as ${VAR}.",
          z.string().check(z.minLength(1)),
        ),
        transport: documented("How it is called.", z._default(z.enum(["grpc"]), "grpc")),
        insecure: documented("Whether it is called without TLS.", z._default(z.boolean(), false)),
      }),
    ),
  ),
});

/** The schema of `security` (spec 5.6). */
export const security = z.strictObject({
  authn: documented("Authentication.", z.prefault(authn, {})),
  authz: documented("Authorization.", z.prefault(authz, {})),
});

/** The part `security` of a service's configuration. */
export type SecurityConfig = z.infer<typeof security>;
