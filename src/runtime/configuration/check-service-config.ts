import { ENGINE_KINDS, type EngineKind } from "../../authz/engine/engine-kinds.ts";
import type { ConfigDocument } from "../../config/config-document.ts";
import { formatPath } from "../../config/describe-issue.ts";
import { postgresUrlProblems } from "../../database/postgres/postgres-url.ts";
import { sqliteFileProblem } from "../../database/sqlite/sqlite-file.ts";
import type { ServiceConfigProblem } from "./configuration-error.ts";
import { SERVERS } from "./listen-addresses.ts";
import { secretsIn } from "./secret-values.ts";
import { secretsOfSection } from "./sections.ts";
import {
  isForDevelopment,
  refusedIn,
  type ServiceConfig,
  serviceConfigSchema,
} from "./service-config.ts";

/**
 * Checks a configuration across its sections.
 *
 * @typeParam Sections - the values of the service's own sections
 */
export type ServiceConfigCheck<Sections = unknown> = (
  config: ServiceConfig,
  sections: Sections,
) => Iterable<ServiceConfigProblem>;

/**
 * The problems between sections of a configuration, except authentication, which checks its own.
 */
export function* checkServiceConfig(config: ServiceConfig): Iterable<ServiceConfigProblem> {
  yield* checkServers(config);
  yield* checkAuthz(config);
  yield* checkDatabase(config);
  yield* checkRegistry(config);
}

const ANY_HOST: ReadonlySet<string> = new Set(["0.0.0.0", "[::]"]);

function* checkServers({ server }: ServiceConfig): Iterable<ServiceConfigProblem> {
  if (server.http === undefined && server.grpc === undefined) {
    yield { path: ["server"], message: "server must have http, grpc or both" };
  }
  const taken: { name: string; host: string; port: string }[] = [];
  for (const name of SERVERS) {
    const address = server[name]?.address;
    if (address === undefined) continue;
    const colon = address.lastIndexOf(":");
    const host = address.slice(0, colon);
    const port = address.slice(colon + 1);
    const other = taken.find(
      (one) =>
        port !== "0" &&
        one.port === port &&
        (one.host === host || ANY_HOST.has(host) || ANY_HOST.has(one.host)),
    );
    if (other !== undefined) {
      yield {
        path: ["server", name, "address"],
        message: `server.${name}.address has the port ${port} of server.${other.name}; each server needs its own`,
      };
    }
    taken.push({ name, host, port });
  }
  for (const name of ["http", "grpc"] as const) {
    const { max_connection_age_ns: age, max_connection_age_grace_ns: grace } = server[name] ?? {};
    if (grace === undefined || age !== undefined) continue;
    yield {
      path: ["server", name, "max_connection_age_grace_ns"],
      message: `server.${name}.max_connection_age_grace_ns needs max_connection_age_ns: without it, connections have no age limit`,
    };
  }
  const { shutdown_delay_ns: delay, shutdown_timeout_ns: timeout } = server;
  if (delay >= timeout) {
    yield {
      path: ["server", "shutdown_delay_ns"],
      message: `server.shutdown_delay_ns must be less than shutdown_timeout_ns, ${timeout}: it is a part of that time, and calls under way have the rest`,
    };
  }
  if (server.metrics?.path === "/healthz") {
    yield {
      path: ["server", "metrics", "path"],
      message: "server.metrics.path must not be /healthz, which is the health of this server",
    };
  }
}

function* checkAuthz(config: ServiceConfig): Iterable<ServiceConfigProblem> {
  const { authz } = config.security;
  const at = (...keys: string[]) => ["security", "authz", ...keys];
  for (const [key, isOff, what] of [
    ["enabled", !authz.enabled, "is false: AUTHORIZED calls are allowed without a check"],
    ["dev_allow_all", authz.dev_allow_all, "is true: every permission check allows"],
  ] as const) {
    if (!isOff) continue;
    const message = `security.authz.${key} ${what}`;
    yield isForDevelopment(config)
      ? { path: at(key), message, severity: "warning" }
      : { path: at(key), message: `${message}; that is ${refusedIn(config)}` };
  }
  if (!authz.enabled || authz.dev_allow_all) return;
  for (const kind of ENGINE_KINDS) {
    // The embedded engine has no keys of its own.
    if (kind === "embedded" || kind === authz.provider || authz[kind] === undefined) continue;
    yield {
      path: at(kind),
      message: `security.authz.${kind} is given, but the provider is ${authz.provider}; write provider: ${kind}, or remove it`,
    };
  }
  yield* ENGINE_CHECKS[authz.provider](config);
}

/**
 * What each engine needs. Without AUTHORIZED RPCs there is no engine; whether there are some is
 * known when services are bound.
 */
const ENGINE_CHECKS: Readonly<
  Record<EngineKind, (config: ServiceConfig) => Iterable<ServiceConfigProblem>>
> = {
  *embedded({ security: { authz }, database }) {
    if (authz.model === undefined || database !== undefined) return;
    yield {
      path: ["security", "authz"],
      message: "database is missing: the embedded engine stores its relationships there",
    };
  },
  spicedb: (config) => checkRemoteEngine(config, "spicedb", "the preshared key"),
  iam: (config) => checkRemoteEngine(config, "iam", "the internal token"),
};

/** @param secret what is sent to the engine */
function* checkRemoteEngine(
  config: ServiceConfig,
  kind: "spicedb" | "iam",
  secret: string,
): Iterable<ServiceConfigProblem> {
  const { model, [kind]: remote } = config.security.authz;
  if (model === undefined) {
    yield {
      path: ["security", "authz"],
      message: "security.authz.model is missing: name the file of the authorization model",
    };
  }
  if (remote === undefined) {
    yield {
      path: ["security", "authz", "provider"],
      message: `security.authz.${kind} is missing: the provider is ${kind}`,
    };
  } else if (remote.insecure && remote.ca_file !== undefined) {
    yield {
      path: ["security", "authz", kind, "insecure"],
      message: `security.authz.${kind} has insecure and ca_file: without TLS no CA is asked; remove one of them`,
    };
  } else if (remote.insecure && !isForDevelopment(config)) {
    yield {
      path: ["security", "authz", kind, "insecure"],
      message: `security.authz.${kind}.insecure is true: ${secret} is sent in plain text`,
      severity: "warning",
    };
  }
}

function* checkDatabase({ database }: ServiceConfig): Iterable<ServiceConfigProblem> {
  const why = database?.file === undefined ? undefined : sqliteFileProblem(database.file);
  if (why !== undefined) {
    yield {
      path: ["database", "file"],
      message: `database.file ${why}; name a file, in a temporary folder for a trial`,
    };
  }
  for (const problem of database?.url === undefined ? [] : postgresUrlProblems(database.url)) {
    yield { path: ["database", "url"], message: `database.url ${problem}` };
  }
  if (database?.password_file !== undefined && holdsPassword(database.url)) {
    yield {
      path: ["database", "password_file"],
      message: "database.password_file must be absent if url has the password",
    };
  }
  if (database === undefined || database.max_idle_conns <= database.max_open_conns) return;
  yield {
    path: ["database", "max_idle_conns"],
    message: `database.max_idle_conns must be at most max_open_conns, ${database.max_open_conns}`,
  };
}

/** Whether a URL of PostgreSQL has a password, in either of its two places. */
function holdsPassword(text: string | undefined): boolean {
  if (text === undefined || !URL.canParse(text)) return false;
  const { password, searchParams } = new URL(text);
  return password !== "" || searchParams.has("password");
}

function* checkRegistry({ registry }: ServiceConfig): Iterable<ServiceConfigProblem> {
  if (registry === undefined) return;
  const { endpoints, password, password_file: file } = registry.etcd;
  const at = (...keys: (string | number)[]) => ["registry", "etcd", ...keys];
  const tlsKey = (["ca_file", "certificate_file"] as const).find(
    (key) => registry.etcd[key] !== undefined,
  );
  const secure = endpoints.map((endpoint) => endpoint.toLowerCase().startsWith("https:"));
  if (new Set(secure).size > 1) {
    yield {
      path: at("endpoints"),
      message: "registry.etcd.endpoints must be all https or all http",
    };
  } else if (tlsKey !== undefined && secure[0] !== true) {
    yield { path: at(tlsKey), message: `registry.etcd.${tlsKey} needs endpoints with https` };
  } else if ((password !== undefined || file !== undefined) && secure[0] !== true) {
    yield {
      path: at("endpoints"),
      message: "registry.etcd.endpoints get the password in plain text; use https",
      severity: "warning",
    };
  }
}

/**
 * Refuses secrets that anybody can read in the configuration: those of a default, in whole or in part.
 *
 * @param sections the text of the service's own sections
 */
export function* checkDefaults(
  config: ServiceConfig,
  sections: ReadonlyMap<string, unknown>,
  { defaulted }: ConfigDocument,
): Iterable<ServiceConfigProblem> {
  if (isForDevelopment(config)) return;
  const ofSections = [...sections].flatMap(([name, text]) =>
    [...secretsOfSection(text, [name])].filter(({ isText }) => isText),
  );
  for (const { path, ranges } of [...secretsIn(serviceConfigSchema, config), ...ofSections]) {
    const part = defaulted(path).find(({ start, end }) =>
      ranges.some(([from, to]) => start < to && from < end),
    );
    if (part === undefined) continue;
    const { variable } = part;
    yield {
      path,
      message: `${formatPath(path)} has the default of ${variable}, which everyone who can read the file knows; set ${variable}, and write \${${variable}} without a default (environment ${config.environment}; only development and test allow one)`,
    };
  }
}
