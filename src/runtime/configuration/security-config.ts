import * as z from "zod/mini";
import { AUTHN_MODES, DEFAULT_AUTHN_MODE } from "../../api/authn-mode.ts";
import { ENGINE_KINDS } from "../../authz/engine/engine-kinds.ts";
import { claimName, documented } from "../../config/config-values.ts";
import {
  duration,
  endpoint,
  endpointUrl,
  file,
  headerSecret,
  headerSecretOrEmpty,
  SECOND_NS,
  secret,
  text,
} from "./service-config-values.ts";

/** The fewest characters of an internal token: shorter ones can be guessed. */
export const MIN_TOKEN = 16;
const ALGORITHMS = ["RS256", "RS512", "ES256", "ES512"] as const;

const gateway = z.strictObject({
  trusted_peers: documented(
    "The peers whose identity headers are accepted: CIDRs, IP addresses, or names of mTLS certificates.",
    z._default(
      z.array(z.string().check(z.minLength(1), z.maxLength(253))).check(z.maxLength(1024)),
      [],
    ),
  ),
  allow_any_peer: documented(
    "Must be true if the list of peers contains every address.",
    z._default(z.boolean(), false),
  ),
});

const oidc = z.strictObject({
  provider: documented("The provider's name, for the log.", z.optional(text())),
  issuer: documented("The issuer, exactly as the token's `iss` has it.", endpointUrl()),
  discovery_url: documented(
    "The discovery document; absent, that of the issuer.",
    z.optional(endpointUrl()),
  ),
  jwks_url: documented(
    "The key set; absent, that of the discovery document.",
    z.optional(endpointUrl()),
  ),
  audience: documented(
    "The client ids that tokens may be for.",
    z.array(text()).check(z.minLength(1), z.maxLength(256)),
  ),
  allowed_owners: documented(
    "The organizations whose tokens are accepted (claim `owner`); empty accepts all.",
    z._default(z.array(text()).check(z.maxLength(256)), []),
  ),
  subject_type_claim: documented(
    "The claim that holds the subject type, `user` or `service_account`; absent, `subject_type` of IAM's own issuer (`…/v1/iam/oidc`), and none of any other.",
    z.optional(claimName()),
  ),
  allowed_algs: documented(
    "The signature algorithms that are accepted.",
    z._default(z.array(z.enum(ALGORITHMS)).check(z.minLength(1), z.maxLength(16)), [...ALGORITHMS]),
  ),
  jwks_cache_ttl_ns: documented("How long keys are kept.", duration(600 * SECOND_NS)),
  clock_skew_ns: documented(
    "How far clocks may differ.",
    z._default(z.int().check(z.minimum(0), z.maximum(600 * SECOND_NS)), 60 * SECOND_NS),
  ),
});

const casdoor = z.strictObject({
  endpoint: documented("Where it answers; may be cluster-internal.", endpointUrl()),
  organization_name: documented("The organization.", text()),
  application_name: documented("The application.", text()),
  client_id: documented("The client id.", text()),
  client_secret: documented("The client secret; give it as ${VAR}.", secret()),
});

const serviceToken = z
  .strictObject({
    service: documented("The service that calls with it: the subject id of its principal.", text()),
    token: documented(
      "The token; an entry whose token is empty is skipped.",
      z.optional(headerSecretOrEmpty(MIN_TOKEN)),
    ),
    token_file: documented(
      "The file that holds the token; read again when it changes.",
      z.optional(file()),
    ),
  })
  .check(
    z.refine(({ token, token_file }) => (token === undefined) !== (token_file === undefined), {
      error: "must have either token or token_file",
    }),
  );

/** What the check above says, in the words of JSON Schema, for editors. */
z.globalRegistry.add(serviceToken, {
  oneOf: [{ required: ["token"] }, { required: ["token_file"] }],
});

const internalCall = z.strictObject({
  enabled: documented("Whether internal tokens are accepted.", z._default(z.boolean(), false)),
  header: documented(
    "The header that carries them.",
    z._default(
      z
        .string()
        .check(z.regex(/^[A-Za-z][A-Za-z0-9-]*$/, "must be the name of a header"), z.maxLength(64)),
      "X-Svc-Internal-Token",
    ),
  ),
  token: documented(
    "The token, or a list of {service, token} or {service, token_file}; give tokens as ${VAR}. Several of a service are accepted while they rotate; empty ones of the list are skipped.",
    z.optional(
      z.union([
        headerSecret(MIN_TOKEN),
        z.array(serviceToken).check(z.minLength(1), z.maxLength(1024)),
      ]),
    ),
  ),
  token_file: documented(
    "Instead of token, the file that holds it; read again when it changes.",
    z.optional(file()),
  ),
  system_token: documented(
    "The token of SYSTEM calls, or a list of tokens while they rotate; empty ones are skipped. If absent, SYSTEM calls are refused. Give it as ${VAR}.",
    z.optional(
      z.union([
        headerSecret(MIN_TOKEN),
        z.array(headerSecretOrEmpty(MIN_TOKEN)).check(z.minLength(1), z.maxLength(16)),
      ]),
    ),
  ),
  system_token_file: documented(
    "The file that holds the token of SYSTEM calls, or a list of files while it rotates, also beside system_token; read again when they change.",
    z.optional(z.union([file(), z.array(file()).check(z.minLength(1), z.maxLength(16))])),
  ),
});

const revocation = z
  .strictObject({
    endpoint: documented("Where IAM answers gRPC, host:port.", endpoint("iam:19080")),
    token: documented(
      "The internal token of this service for IAM; give it as ${VAR}. Needed without token_file.",
      z.optional(headerSecret(MIN_TOKEN)),
    ),
    token_file: documented(
      "Instead of token, the file that holds it; read again when it changes.",
      z.optional(file()),
    ),
    insecure: documented("Whether IAM is called without TLS.", z._default(z.boolean(), false)),
    ca_file: documented(
      "The CA certificates that IAM is verified with, PEM; absent, the public CAs.",
      z.optional(file()),
    ),
    certificate_file: documented(
      "The client certificate for IAM, PEM; needs key_file.",
      z.optional(file()),
    ),
    key_file: documented("The key of the client certificate, PEM.", z.optional(file())),
    on_loss: documented(
      "While revocations are not known, `refuse` answers calls with a token with 503; `serve` accepts tokens that may have been revoked.",
      z._default(z.enum(["refuse", "serve"]), "refuse"),
    ),
    max_entries: documented(
      "How many revocations are held in memory; with more, calls with a token get 503.",
      z._default(z.int().check(z.minimum(1), z.maximum(10_000_000)), 100_000),
    ),
  })
  .check(
    z.refine(({ token, token_file }) => (token === undefined) !== (token_file === undefined), {
      error: "must have either token or token_file",
    }),
    z.refine((value) => (value.certificate_file === undefined) === (value.key_file === undefined), {
      error: "must have certificate_file and key_file, or neither",
    }),
  );

/** What the checks above say, in the words of JSON Schema, for editors. */
z.globalRegistry.add(revocation, {
  oneOf: [{ required: ["token"] }, { required: ["token_file"] }],
  dependencies: { certificate_file: ["key_file"], key_file: ["certificate_file"] },
});

/** The schema of `security.authn`. */
export const authn = z.strictObject({
  enabled: documented("Whether callers are authenticated at all.", z._default(z.boolean(), true)),
  mode: documented(
    "How callers are authenticated.",
    z._default(z.enum(AUTHN_MODES), DEFAULT_AUTHN_MODE),
  ),
  provider: documented(
    "The kind of the identity provider.",
    z.optional(z.enum(["embedded", "oidc", "casdoor"])),
  ),
  cache_ttl_ns: documented("How long a verified token is remembered.", duration(300 * SECOND_NS)),
  gateway: documented("From which peers identity headers are accepted.", z.prefault(gateway, {})),
  oidc: documented("How tokens are verified; needed with idp_jwt and hybrid.", z.optional(oidc)),
  casdoor: documented("The management API of Casdoor.", z.optional(casdoor)),
  internal_call: documented("Calls between services.", z.prefault(internalCall, {})),
  revocation: documented(
    "Where the revocations of tokens come from; absent, none are known but those of the service's own list.",
    z.optional(revocation),
  ),
});

const spicedb = z
  .strictObject({
    endpoint: documented("Where it answers, host:port.", endpoint("spicedb:50051")),
    token: documented(
      "The preshared key; give it as ${VAR}. Needed without token_file.",
      z.optional(headerSecret(1)),
    ),
    token_file: documented(
      "Instead of token, the file that holds it; read at the start.",
      z.optional(file()),
    ),
    transport: documented("How it is called.", z._default(z.enum(["grpc"]), "grpc")),
    insecure: documented("Whether it is called without TLS.", z._default(z.boolean(), false)),
    ca_file: documented(
      "The CA certificates that it is verified with, PEM; absent, the public CAs.",
      z.optional(file()),
    ),
  })
  .check(
    z.refine(({ token, token_file }) => (token === undefined) !== (token_file === undefined), {
      error: "must have either token or token_file",
    }),
  );

/** What the check above says, in the words of JSON Schema, for editors. */
z.globalRegistry.add(spicedb, { oneOf: [{ required: ["token"] }, { required: ["token_file"] }] });

const iam = z
  .strictObject({
    endpoint: documented("Where IAM answers gRPC, host:port.", endpoint("iam:19080")),
    token: documented(
      "The internal token of this service for IAM; give it as ${VAR}. Needed without token_file.",
      z.optional(headerSecret(MIN_TOKEN)),
    ),
    token_file: documented(
      "Instead of token, the file that holds it; read again when it changes.",
      z.optional(file()),
    ),
    insecure: documented("Whether IAM is called without TLS.", z._default(z.boolean(), false)),
    ca_file: documented(
      "The CA certificates that IAM is verified with, PEM; absent, the public CAs.",
      z.optional(file()),
    ),
    certificate_file: documented(
      "The client certificate for IAM, PEM; needs key_file.",
      z.optional(file()),
    ),
    key_file: documented("The key of the client certificate, PEM.", z.optional(file())),
  })
  .check(
    z.refine(({ token, token_file }) => (token === undefined) !== (token_file === undefined), {
      error: "must have either token or token_file",
    }),
    z.refine((value) => (value.certificate_file === undefined) === (value.key_file === undefined), {
      error: "must have certificate_file and key_file, or neither",
    }),
  );

/** What the checks above say, in the words of JSON Schema, for editors. */
z.globalRegistry.add(iam, {
  oneOf: [{ required: ["token"] }, { required: ["token_file"] }],
  dependencies: { certificate_file: ["key_file"], key_file: ["certificate_file"] },
});

/** The schema of `security.authz`. */
export const authz = z.strictObject({
  enabled: documented("Whether AUTHORIZED calls are checked.", z._default(z.boolean(), true)),
  provider: documented(
    "The kind of the authorization engine.",
    z._default(z.enum(ENGINE_KINDS), "embedded"),
  ),
  dev_allow_all: documented(
    "Whether every check allows; for development only.",
    z._default(z.boolean(), false),
  ),
  model: documented(
    "The file of the authorization model; needed if calls are checked.",
    z.optional(file()),
  ),
  spicedb: documented("The SpiceDB; needed with that provider.", z.optional(spicedb)),
  iam: documented("The IAM service; needed with that provider.", z.optional(iam)),
});

/** The schema of `security`. */
export const security = z.strictObject({
  authn: documented("Authentication.", z.prefault(authn, {})),
  authz: documented("Authorization.", z.prefault(authz, {})),
});

/** The part `security` of a service's configuration. */
export type SecurityConfig = z.infer<typeof security>;
