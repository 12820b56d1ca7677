import * as z from "zod/mini";
import { documented, httpUrl, path } from "../../config/config-values.ts";
import { security } from "./security-config.ts";
import { address, duration, file, size, url } from "./service-config-values.ts";

const SECOND = 1_000_000_000;
const MIB = 1024 * 1024;

const tls = () =>
  z.strictObject({
    certificate_file: documented("The certificate chain, PEM.", file()),
    key_file: documented("The private key, PEM.", file()),
    client_ca_file: documented(
      "Who signs client certificates, PEM; present, clients must show one (mTLS).",
      z.optional(file()),
    ),
  });

const cors = z.strictObject({
  allowed_origins: documented(
    "The origins whose pages may call with credentials, such as https://app.example.com.",
    z._default(
      z
        .array(
          z
            .string()
            .check(
              z.regex(
                /^https?:\/\/[^/*\s?#@]+$/,
                "must be an origin, such as https://app.example.com",
              ),
            ),
        )
        .check(z.maxLength(256)),
      [],
    ),
  ),
  max_age_seconds: documented(
    "How long browsers keep the answer to a preflight.",
    z._default(z.int().check(z.minimum(0), z.maximum(86_400)), 3600),
  ),
});

const http = z.strictObject({
  address: documented("Where it listens, host:port.", address()),
  timeout_ns: documented("How long a call may take.", duration(5 * SECOND)),
  max_body_bytes: documented("The largest request body.", size(4 * MIB)),
  cors: documented("Which other origins may call (spec 8).", z.prefault(cors, {})),
  tls: documented("The server's certificate; absent, plain text.", z.optional(tls())),
});

const grpc = z.strictObject({
  address: documented("Where it listens, host:port.", address()),
  timeout_ns: documented("How long a call may take.", duration(5 * SECOND)),
  max_message_bytes: documented("The largest message, each way.", size(4 * MIB)),
  reflection: documented("Whether server reflection is served.", z._default(z.boolean(), true)),
  tls: documented("The server's certificate; absent, plain text.", z.optional(tls())),
});

const server = z.strictObject({
  http: documented("The HTTP server; absent, none.", z.optional(http)),
  grpc: documented("The gRPC server; absent, none.", z.optional(grpc)),
  metrics: documented(
    "The server of metrics, on an address of its own; absent, none.",
    z.optional(
      z.strictObject({
        address: documented("Where it listens, host:port.", address()),
        path: documented("The path of the metrics.", z._default(path(), "/metrics")),
      }),
    ),
  ),
  stream_timeout_ns: documented("How long a streaming call may take.", duration(3600 * SECOND)),
  shutdown_timeout_ns: documented(
    "How long calls may still take when the process was told to end.",
    duration(10 * SECOND),
  ),
});

const database = z
  .strictObject({
    driver: documented(
      "The kind of database.",
      z._default(z.enum(["sqlite", "postgres"]), "sqlite"),
    ),
    file: documented("The file of SQLite.", z.optional(file())),
    url: documented(
      "The URL of PostgreSQL; holds a secret, so give it as ${VAR}.",
      z.optional(url(/^postgres(ql)?$/)),
    ),
    max_open_conns: documented(
      "The most connections.",
      z._default(z.int().check(z.minimum(1), z.maximum(1000)), 20),
    ),
    max_idle_conns: documented(
      "The most connections that are kept without work.",
      z._default(z.int().check(z.minimum(0), z.maximum(1000)), 10),
    ),
    conn_max_lifetime_ns: documented("How long a connection is used.", duration(1800 * SECOND)),
    slow_query_threshold_ns: documented("From when on a query is logged.", duration(SECOND / 5)),
  })
  .check(
    z.refine((value) => (value.driver === "sqlite") === (value.file !== undefined), {
      error: "must have file with sqlite, and only then",
      path: ["file"],
    }),
    z.refine((value) => (value.driver === "postgres") === (value.url !== undefined), {
      error: "must have url with postgres, and only then",
      path: ["url"],
    }),
  );

const accessLog = z.strictObject({
  enabled: documented("Whether calls are logged.", z._default(z.boolean(), true)),
  skip_paths: documented(
    "The paths that are not logged.",
    z._default(z.array(path()).check(z.maxLength(256)), ["/healthz", "/readyz", "/metrics"]),
  ),
  slow_threshold_ns: documented("From when on a call is logged as slow.", duration(SECOND)),
});

const etcd = z.strictObject({
  endpoints: documented(
    "Where etcd answers.",
    z.array(httpUrl()).check(z.minLength(1), z.maxLength(16)),
  ),
  username: documented("The user.", z.optional(z.string().check(z.minLength(1)))),
  password: documented("The password; give it as ${VAR}.", z.optional(z.string())),
  ca_file: documented("Who signs its certificate, PEM.", z.optional(file())),
  lease_ttl_seconds: documented(
    "How long entries outlive a process that was killed.",
    z._default(z.int().check(z.minimum(5), z.maximum(3600)), 15),
  ),
});

/** The schema of a service's configuration (spec 5.6 and 8). Its names are those of the file. */
export const serviceConfigSchema = z.strictObject({
  environment: documented(
    "The environment, as route-registry keys carry it.",
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
  service: documented(
    "The name of the deployed service.",
    z
      .string()
      .check(
        z.regex(
          /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/,
          "must be a name of lower-case letters, digits and -",
        ),
        z.maxLength(63),
      ),
  ),
  server: documented("Where it listens.", server),
  security: documented("Authentication and authorization.", z.prefault(security, {})),
  database: documented(
    "Where relationships (of the embedded engine) and audit events are kept.",
    z.optional(database),
  ),
  log: documented(
    "The log.",
    z._default(
      z.strictObject({
        level: documented(
          "What is logged.",
          z._default(z.enum(["trace", "debug", "info", "warn", "error", "silent"]), "info"),
        ),
      }),
      { level: "info" },
    ),
  ),
  access_log: documented("The log of calls (spec 6).", z.prefault(accessLog, {})),
  registry: documented(
    "The route registry (spec 6); absent, routes are not published.",
    z.optional(z.strictObject({ etcd: documented("The etcd that holds it.", etcd) })),
  ),
});

/** The configuration of a service, with its defaults in place. */
export type ServiceConfig = z.infer<typeof serviceConfigSchema>;
