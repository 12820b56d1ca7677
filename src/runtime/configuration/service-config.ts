import * as z from "zod/mini";
import { documented, path } from "../../config/config-values.ts";
import { DATABASE_KINDS } from "../../database/database.ts";
import type { ServiceConfig } from "../../gen/service-config.ts";
import { security } from "./security-config.ts";
import { server } from "./server-config.ts";
import {
  duration,
  endpointUrl,
  file,
  postgresUrl,
  SECOND_NS,
  secret,
  text,
} from "./service-config-values.ts";

const database = z
  .strictObject({
    driver: documented("The kind of database.", z._default(z.enum(DATABASE_KINDS), "sqlite")),
    file: documented("The file of SQLite; needed with sqlite.", z.optional(file())),
    url: documented(
      "The URL of PostgreSQL; needed with postgres. It holds a secret, so give it as ${VAR}.",
      z.optional(postgresUrl()),
    ),
    password_file: documented(
      "The file that holds the password of PostgreSQL, which is then not in url; read at the start.",
      z.optional(file()),
    ),
    max_open_conns: documented(
      "The maximum number of connections; the embedded engine has as many of its own, of which it usually uses one.",
      z._default(z.int().check(z.minimum(1), z.maximum(1000)), 20),
    ),
    max_idle_conns: documented(
      "The maximum number of idle connections.",
      z._default(z.int().check(z.minimum(0), z.maximum(1000)), 10),
    ),
    conn_max_lifetime_ns: documented("How long a connection is used.", duration(1800 * SECOND_NS)),
    slow_query_threshold_ns: documented(
      "The duration from which a query is logged.",
      duration(SECOND_NS / 5),
    ),
  })
  .check(
    z.refine((value) => (value.driver === "sqlite") === (value.file !== undefined), {
      error: "must be given with sqlite, and only then",
      path: ["file"],
    }),
    z.refine((value) => (value.driver === "postgres") === (value.url !== undefined), {
      error: "must be given with postgres, and only then",
      path: ["url"],
    }),
    z.refine((value) => value.driver === "postgres" || value.password_file === undefined, {
      error: "must be given with postgres only",
      path: ["password_file"],
    }),
  );

/** What the checks above say, in the words of JSON Schema, for editors. */
z.globalRegistry.add(database, {
  if: { required: ["driver"], properties: { driver: { const: "postgres" } } },
  // biome-ignore lint/suspicious/noThenProperty: the word of JSON Schema.
  then: { required: ["url"], properties: { file: false } },
  else: {
    properties: { password_file: false },
    if: { properties: { driver: { const: "sqlite" } } },
    // biome-ignore lint/suspicious/noThenProperty: the word of JSON Schema.
    then: { required: ["file"], properties: { url: false } },
  },
});

const log = z.strictObject({
  level: documented(
    "What is logged: this level and those above it.",
    z._default(z.enum(["trace", "debug", "info", "warn", "error", "silent"]), "info"),
  ),
});

const accessLog = z.strictObject({
  enabled: documented("Whether calls are logged.", z._default(z.boolean(), true)),
  skip_paths: documented(
    "The paths that are not logged.",
    z._default(z.array(path()).check(z.maxLength(256)), ["/healthz", "/readyz", "/metrics"]),
  ),
  slow_threshold_ns: documented(
    "The duration from which a call is logged as slow.",
    duration(SECOND_NS),
  ),
});

const audit = z.strictObject({
  retention_days: documented(
    "How long audit events are kept; absent, indefinitely.",
    z.optional(z.int().check(z.minimum(1), z.maximum(36_500))),
  ),
});

const etcd = z
  .strictObject({
    endpoints: documented(
      "Where etcd answers.",
      z.array(endpointUrl()).check(z.minLength(1), z.maxLength(16)),
    ),
    username: documented("The user.", z.optional(text())),
    password: documented("The password; give it as ${VAR}.", z.optional(secret())),
    password_file: documented(
      "Instead of password, the file that holds it; read at the start.",
      z.optional(file()),
    ),
    ca_file: documented(
      "The CA certificates that it is verified with, PEM; absent, the public CAs.",
      z.optional(file()),
    ),
    certificate_file: documented(
      "The client certificate for etcd, PEM; needs key_file.",
      z.optional(file()),
    ),
    key_file: documented("The key of the client certificate, PEM.", z.optional(file())),
    lease_ttl_seconds: documented(
      "How long entries outlive a process that was killed.",
      z._default(z.int().check(z.minimum(5), z.maximum(3600)), 15),
    ),
  })
  .check(
    z.refine((value) => value.password === undefined || value.password_file === undefined, {
      error: "must have password or password_file, and not both",
    }),
    z.refine(
      ({ username, password, password_file: file }) =>
        (username === undefined) === (password === undefined && file === undefined),
      { error: "must have username and password, or neither" },
    ),
    z.refine((value) => (value.certificate_file === undefined) === (value.key_file === undefined), {
      error: "must have certificate_file and key_file, or neither",
    }),
  );

/** What the checks above say, in the words of JSON Schema, for editors. */
z.globalRegistry.add(etcd, {
  description: "The etcd that holds it.",
  dependencies: {
    username: { oneOf: [{ required: ["password"] }, { required: ["password_file"] }] },
    password: ["username"],
    password_file: ["username"],
    certificate_file: ["key_file"],
    key_file: ["certificate_file"],
  },
});

const registry = z.strictObject({ etcd });

/** A name that keys of the route registry carry. */
const registryName = (characters: RegExp, such: string) =>
  z.string().check(z.regex(characters, such), z.maxLength(63));

/** The schema of a service's configuration. Its names are those of the file. */
export const serviceConfigSchema = z.strictObject({
  environment: documented(
    "The environment, as in the keys of the route registry; only development and test allow settings for development, and development trusts this machine.",
    registryName(
      /^[a-z0-9]([-a-z0-9_]*[a-z0-9])?$/,
      "must be a name, such as development or production",
    ),
  ),
  service: documented(
    "The name of the deployed service.",
    registryName(
      /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/,
      "must be a name of lower-case letters, digits, - and .",
    ),
  ),
  server: documented("Where it listens.", server),
  security: documented("Authentication and authorization.", z.prefault(security, {})),
  database: documented(
    "Where relationships (of the embedded engine) and audit events are kept.",
    z.optional(database),
  ),
  log: documented("The log.", z.prefault(log, {})),
  access_log: documented("The log of calls.", z.prefault(accessLog, {})),
  audit: documented("The audit events.", z.prefault(audit, {})),
  registry: documented(
    "The route registry; absent, routes are not published.",
    z.optional(registry),
  ),
});

// The interface is generated from the schema.
serviceConfigSchema satisfies z.ZodMiniType<ServiceConfig>;

export type { ServiceConfig };
/** The part `registry.etcd` of a service's configuration. */
export type EtcdConfig = NonNullable<ServiceConfig["registry"]>["etcd"];

const FOR_DEVELOPMENT: ReadonlySet<string> = new Set(["development", "test"]);

/** Whether settings for development are allowed (docs/requirements.md, AUTHN-12). */
export function isForDevelopment({ environment }: { readonly environment: string }): boolean {
  return FOR_DEVELOPMENT.has(environment);
}

/** Why a setting is refused outside development; follows the description of the setting. */
export function refusedIn({ environment }: { readonly environment: string }): string {
  return `refused in environment ${environment}: only development and test allow it`;
}
