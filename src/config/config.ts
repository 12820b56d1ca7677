import * as z from "zod/mini";
import { AUTHN_MODES, DEFAULT_AUTHN_MODE } from "../api/authn-mode.ts";
import { AUDIT_EVENT_NAME, MAX_AUDIT_EVENT_NAME, RISK_LEVELS } from "../api/policy.ts";
import {
  backend,
  claimName,
  documented,
  duration,
  durationMs,
  httpUrl,
  identifiers,
  name,
  path,
  port,
  secret,
} from "./config-values.ts";
import { frontend } from "./frontend-config.ts";

export type { FrontendConfig } from "./frontend-config.ts";

const WILDCARD_HOST = /^(\*\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const PACKAGE = /^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*$/;

/** `rate_limit` of an RPC has 32 bits. */
const MAX_RATE = 2_147_483_647;

/** The shortest time for a login. */
const MIN_LOGIN_MS = 30_000;

const identity = z.strictObject({
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

const edge = z.strictObject({
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

const packageName = () =>
  z.string().check(z.regex(PACKAGE, "must be a protobuf package, such as hub.skills.v1"));

const modelPath = () => z.string().check(z.minLength(1));

const service = z.strictObject({
  packages: documented(
    "The protobuf packages that it serves.",
    z.array(packageName()).check(z.minLength(1)),
  ),
  model: documented(
    "Its own authorization model; relative to this file. The default is `model` at the top.",
    z.optional(modelPath()),
  ),
  ports: documented(
    "The ports that it listens on.",
    z._default(
      z.strictObject({
        http: documented("The HTTP port.", z.optional(port())),
        grpc: documented("The gRPC port.", z.optional(port())),
      }),
      {},
    ),
  ),
  backend: documented(
    "The backend that the gateway forwards to; needed at the edge.",
    z.optional(backend()),
  ),
  authn_mode: documented(
    "How it authenticates callers.",
    z._default(z.enum(AUTHN_MODES), DEFAULT_AUTHN_MODE),
  ),
  published_as: documented(
    "How the edge publishes its RPCs. Client streams need grpc.",
    z._default(z.enum(["http", "grpc"]), "http"),
  ),
  timeout: documented(
    "The time limit of a call, such as 5s: `server.http.timeout_ns` of the service. The edge waits one second longer.",
    z._default(duration(), "5s"),
  ),
});

const pathAudit = z.strictObject({
  event: documented(
    "The name of the event, such as `hook.receive`.",
    z
      .string()
      .check(
        z.regex(AUDIT_EVENT_NAME, "must be lower-case words joined by dots, such as hook.receive"),
        z.maxLength(MAX_AUDIT_EVENT_NAME),
      ),
  ),
  risk_level: documented(
    "How much harm the request can do.",
    z._default(z.enum(RISK_LEVELS), "LOW"),
  ),
});

const pathRateLimit = z
  .strictObject({
    qps: documented(
      "The requests per second of one caller.",
      z.int().check(z.minimum(1), z.maximum(MAX_RATE)),
    ),
    burst: documented(
      "The size of the bucket; the default is `qps`.",
      z.optional(z.int().check(z.minimum(1), z.maximum(MAX_RATE))),
    ),
  })
  .check(
    z.refine(({ qps, burst }) => burst === undefined || burst >= qps, {
      error: "must be at least qps",
      path: ["burst"],
    }),
  );

const declaredPath = z
  .strictObject({
    service: documented("The service that serves it.", z.optional(name())),
    frontend: documented("The frontend that serves it.", z.optional(name())),
    path: documented("The path.", path()),
    match: documented(
      "Whether only the path itself matches, or all paths below it too.",
      z._default(z.enum(["exact", "prefix"]), "exact"),
    ),
    methods: documented(
      "The HTTP methods; `*` for all.",
      z._default(
        z
          .array(
            z
              .string()
              .check(z.regex(/^(\*|[A-Z]+)$/, "must be an HTTP method in upper case, or *")),
          )
          .check(z.minLength(1)),
        ["GET"],
      ),
    ),
    exposure: documented(
      "Who may open it; other exposure levels need an RPC.",
      z.enum(["PUBLIC", "AUTHENTICATED"]),
    ),
    audit: documented(
      "The audit event of a request; only for a path of a service.",
      z.optional(pathAudit),
    ),
    rate_limit: documented(
      "The rate limit of one caller; only for a path of a service.",
      z.optional(pathRateLimit),
    ),
  })
  .check(
    z.refine((value) => (value.service === undefined) !== (value.frontend === undefined), {
      error: "must have either service or frontend",
    }),
    z.refine((value) => value.frontend === undefined || value.audit === undefined, {
      error: "needs a service that enforces it; a path of a frontend cannot have one",
      path: ["audit"],
    }),
    z.refine((value) => value.frontend === undefined || value.rate_limit === undefined, {
      error: "needs a service that enforces it; a path of a frontend cannot have one",
      path: ["rate_limit"],
    }),
  );

/** The schema of `svc-access.yaml`. Its names are those of the file. */
export const configSchema = z.strictObject({
  environment: documented(
    "The environment, which is a part of route-registry keys.",
    z._default(
      z
        .string()
        .check(
          z.regex(
            /^[a-z0-9]([-a-z0-9_]*[a-z0-9])?$/,
            "must be a name, such as development or production",
          ),
          z.maxLength(63),
        ),
      "development",
    ),
  ),
  model: documented(
    "The authorization model, in the SpiceDB schema language, of all services without their own; relative to this file.",
    z.optional(modelPath()),
  ),
  identity: documented("The identity provider; needed at the edge.", z.optional(identity)),
  edge: documented(
    "The edge gateway; without it, no gateway files are generated.",
    z.optional(edge),
  ),
  services: documented(
    "The deployed services; by default, each protobuf package is one.",
    z.optional(z.record(name(), service)),
  ),
  clients: documented(
    "The protobuf packages of other services that are only called: no rule checks them, and only messages and typed clients are generated from them. `svc.iam.v1` counts as listed, with the services and RPCs that this package ships.",
    z.optional(z.array(packageName()).check(z.maxLength(10000))),
  ),
  frontends: documented(
    "The applications that users open.",
    z._default(z.record(name(), frontend), {}),
  ),
  paths: documented(
    "Paths that are not RPCs: login, callback, logout, pages. Each becomes a route of the edge; the probes /healthz and /readyz need none.",
    z._default(z.array(declaredPath).check(z.maxLength(10000)), []),
  ),
});

/** The platform configuration, validated, with its defaults. */
export type PlatformConfig = z.infer<typeof configSchema>;
/** The identity provider of the platform configuration. */
export type IdentityConfig = z.infer<typeof identity>;
/** The edge of the platform configuration. */
export type EdgeConfig = z.infer<typeof edge>;
/** A deployed service of the platform configuration. */
export type ServiceConfig = z.infer<typeof service>;
/** A backend that the gateway forwards to. */
export type BackendConfig = NonNullable<ServiceConfig["backend"]>;
