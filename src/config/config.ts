import * as z from "zod";

// A configuration is parsed once; compiling a parser for it would take longer.
z.config({ jitless: true });

/** RFC 1123 label: what Kubernetes allows as a name. */
const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
/** RFC 1123 subdomain. */
const HOST = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const WILDCARD_HOST = /^(\*\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
/** An absolute path of RFC 3986 without query and fragment. */
const PATH = /^\/[A-Za-z0-9\-._~!$&'()+,;=@:%/]*$/;
const PACKAGE = /^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*$/;

const name = () =>
  z
    .string()
    .regex(LABEL, "must be a name of lower-case letters, digits and -")
    .max(63, "must have 63 characters at most");
const host = () =>
  z.string().regex(HOST, "must be a host name in lower case, without scheme or port").max(253);
const path = () =>
  z
    .string()
    .regex(PATH, 'must be a path that starts with "/", without query or fragment')
    .max(1024);
const port = () => z.int().min(1).max(65535);
const httpUrl = () =>
  z
    .string()
    .max(2048, "must have 2048 characters at most")
    .pipe(z.url({ protocol: /^https?$/, error: "must be an http or https URL" }));

const backend = () =>
  z
    .strictObject({
      service: z
        .strictObject({
          name: name().describe("The name of the Service."),
          namespace: name().describe("The namespace of the Service."),
          port: port().optional().describe("The port; absent, `ports.http` of the service."),
        })
        .optional()
        .describe("A Kubernetes Service."),
      backend: z
        .strictObject({
          name: name().describe("The name of the Backend."),
          namespace: name().describe("The namespace of the Backend."),
          endpoints: z
            .array(
              z.strictObject({
                address: z.string().min(1).max(253).describe("An IP address or a host name."),
                port: port().describe("The port."),
              }),
            )
            .min(1)
            .max(64)
            .describe("Where it answers."),
        })
        .optional()
        .describe("An Envoy Gateway Backend, for what runs outside Kubernetes."),
    })
    .refine((value) => (value.service === undefined) !== (value.backend === undefined), {
      error: "must have either service or backend",
    });

const secret = () =>
  z.strictObject({
    name: name().describe("The name of the Secret."),
    namespace: name().optional().describe("The namespace; absent, that of what refers to it."),
  });

const identity = z.strictObject({
  issuer: httpUrl().describe("The issuer, exactly as the token's `iss` has it."),
  authorization_endpoint: httpUrl().describe("Where the browser logs in."),
  token_endpoint: httpUrl().describe(
    "Where the gateway exchanges a code; may be cluster-internal.",
  ),
  end_session_endpoint: httpUrl().optional().describe("Where the browser logs out."),
  jwks_uri: httpUrl().describe("The key set; may be cluster-internal."),
  allowed_owners: z
    .array(z.string().min(1).max(256))
    .max(256)
    .default([])
    .describe("The organizations whose tokens are accepted (claim `owner`); empty accepts all."),
});

const listener = z.strictObject({
  name: name().describe("The name of the listener."),
  port: port().describe("The port that it listens on."),
  protocol: z.enum(["HTTPS", "HTTP"]).default("HTTPS").describe("HTTPS, or HTTP for development."),
  hostname: z
    .string()
    .regex(WILDCARD_HOST, "must be a host name, or one that starts with *.")
    .max(253)
    .optional()
    .describe("The host that it serves; absent for all."),
  certificate: secret()
    .optional()
    .describe("The Secret of the TLS certificate; needed with HTTPS."),
});

const edge = z.strictObject({
  gateway: z
    .strictObject({
      name: name().describe("The name of the Gateway."),
      namespace: name().describe("The namespace of the Gateway."),
      class: name().describe("The name of its GatewayClass."),
    })
    .describe("The Gateway that all routes attach to."),
  listeners: z.array(listener).min(1).max(64).describe("The listeners of the Gateway."),
  rate_limit: z
    .enum(["local", "global"])
    .default("local")
    .describe("`local`: each Envoy counts for itself; `global`: a rate-limit service counts."),
  backstop: z
    .boolean()
    .default(true)
    .describe("Whether a policy on the Gateway denies what no policy of a route covers."),
});

const service = z.strictObject({
  packages: z
    .array(z.string().regex(PACKAGE, "must be a protobuf package, such as hub.skills.v1"))
    .min(1)
    .describe("The protobuf packages that it serves."),
  ports: z
    .strictObject({
      http: port().optional().describe("The HTTP port."),
      grpc: port().optional().describe("The gRPC port."),
    })
    .default({})
    .describe("Where it listens."),
  backend: backend().optional().describe("What the gateway forwards to; needed at the edge."),
  authn_mode: z
    .enum(["gateway_trusted", "idp_jwt", "hybrid", "disabled"])
    .default("gateway_trusted")
    .describe("How it authenticates (spec 5.1)."),
  published_as: z
    .enum(["http", "grpc"])
    .default("http")
    .describe("How the edge publishes its RPCs. Client streams need grpc."),
});

const frontend = z.strictObject({
  host: host().describe("The host that its users open."),
  prefix: path().default("/").describe("The path below which its pages are."),
  namespace: name().describe("The namespace of its routes and policies."),
  services: z.array(name()).default([]).describe("The services whose published RPCs it calls."),
  client_id: z.string().min(1).max(256).describe("The client id at the identity provider."),
  client_secret: secret().describe("The Secret whose key `client-secret` holds the client secret."),
  redirect_url: httpUrl().describe("The redirect URL, exactly as registered, with its port."),
  logout_path: path().describe("The path that ends the session."),
  claims: z
    .enum(["default", "console"])
    .default("default")
    .describe("Which claims become headers: the first four of spec 5.3, or all."),
  allowed_origins: z
    .array(
      z
        .string()
        .regex(/^https?:\/\/[^/*\s]+$/, "must be an origin, such as https://app.example.com"),
    )
    .default([])
    .describe("Other origins whose pages call it with credentials (CORS)."),
  backend: backend().optional().describe("What serves its pages; absent where it has none."),
});

const declaredPath = z
  .strictObject({
    service: name().optional().describe("The service that serves it."),
    frontend: name().optional().describe("The frontend that serves it."),
    path: path().describe("The path."),
    match: z
      .enum(["exact", "prefix"])
      .default("exact")
      .describe("Whether it stands for itself or for all below it too."),
    methods: z
      .array(z.string().regex(/^(\*|[A-Z]+)$/, "must be an HTTP method in upper case, or *"))
      .min(1)
      .default(["GET"])
      .describe("The HTTP methods; `*` for all."),
    exposure: z
      .enum(["PUBLIC", "AUTHENTICATED"])
      .describe("Who may open it; the finer levels need an RPC."),
  })
  .refine((value) => (value.service === undefined) !== (value.frontend === undefined), {
    error: "must have either service or frontend",
  });

/** The schema of `svc-access.yaml`. Its names are those of the file. */
export const configSchema = z.strictObject({
  environment: z
    .string()
    .regex(/^[a-z0-9]([-a-z0-9_]*[a-z0-9])?$/, "must be a name, such as development or production")
    .max(63)
    .default("development")
    .describe("The environment, as route-registry keys carry it."),
  model: z
    .string()
    .min(1)
    .optional()
    .describe("The authorization model in the SpiceDB schema language; relative to this file."),
  identity: identity.optional().describe("The identity provider; needed at the edge."),
  edge: edge.optional().describe("The edge gateway; absent, no gateway file is made."),
  services: z
    .record(name(), service)
    .optional()
    .describe("The deployed services; absent, each protobuf package is one."),
  frontends: z.record(name(), frontend).default({}).describe("The applications that users open."),
  paths: z
    .array(declaredPath)
    .max(10000)
    .default([])
    .describe("What is served and is no RPC: health, login, callback, logout, pages."),
});

/** The platform configuration, validated, with its defaults. */
export type PlatformConfig = z.infer<typeof configSchema>;
/** The identity provider of the platform configuration. */
export type IdentityConfig = z.infer<typeof identity>;
/** The edge of the platform configuration. */
export type EdgeConfig = z.infer<typeof edge>;
/** A deployed service of the platform configuration. */
export type ServiceConfig = z.infer<typeof service>;
/** A frontend of the platform configuration. */
export type FrontendConfig = z.infer<typeof frontend>;
/** What the gateway forwards to. */
export type BackendConfig = NonNullable<ServiceConfig["backend"]>;
