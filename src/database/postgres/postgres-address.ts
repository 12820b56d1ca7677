import type { ClientConfig } from "pg";
import { Client } from "../../common/drivers/pg.ts";
import { DatabaseError } from "../database-error.ts";
import { parametersOf } from "./postgres-parameters.ts";
import { settingsProblems } from "./postgres-tls.ts";
import {
  driverUrl,
  postgresMachineProblems,
  postgresUrlProblems,
  URL_FORM,
} from "./postgres-url.ts";

/** The address of a PostgreSQL server. */
export interface PostgresAddress {
  /** For `pg`; contains the password, so never print it. */
  readonly config: ClientConfig;
  /** For messages: `database at host:port`. */
  readonly place: string;
  /** For messages, too: the URL without the password. */
  readonly url: string;
  readonly user: string;
}

/** The time limit for making a connection, in milliseconds. */
const CONNECT_TIMEOUT = 5000;
/** The time without an answer after which a server counts as lost, in milliseconds. */
const QUERY_TIMEOUT = 30_000;

/** Reads a URL (`postgres://user:password@host:port/database`) or the settings of `pg`; the environment has the defaults. */
export function postgresAddress(target: string | ClientConfig): PostgresAddress {
  const given = typeof target === "string" ? { connectionString: target } : target;
  const url = given.connectionString;
  // pg parses any other text as the name of a database on a host "base".
  if (url !== undefined && !/^(postgres(ql)?:\/\/|socket:|\/)/.test(url)) throw unreadable();
  const problems =
    url === undefined
      ? settingsProblems(given)
      : [...postgresUrlProblems(url), ...postgresMachineProblems(url)];
  const what = url === undefined ? "connection" : "URL";
  if (problems.length > 0) throw refused(problems.join("; it "), what);
  const config: ClientConfig = {
    connectionTimeoutMillis: CONNECT_TIMEOUT,
    query_timeout: QUERY_TIMEOUT,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    application_name: "svc-access",
    ...given,
    ...(url === undefined ? {} : { connectionString: driverUrl(url), ...connectTimeout(url) }),
  };
  try {
    const { host, port, database = "", user = "" } = new Client(config);
    const at = `${encodeURIComponent(user)}@${encodeURIComponent(host)}:${port}`;
    return {
      config,
      place: `${database} at ${host}:${port}`,
      url: `postgres://${at}/${encodeURIComponent(database)}`,
      user,
    };
  } catch {
    // The error may quote the URL with its password.
    throw unreadable();
  }
}

/** The driver ignores this parameter, which is in seconds, as for libpq. */
function connectTimeout(url: string): ClientConfig {
  const seconds = parametersOf(url).find(([name]) => name === "connect_timeout")?.[1];
  return seconds === undefined ? {} : { connectionTimeoutMillis: Number(seconds) * 1000 };
}

function unreadable(): DatabaseError {
  return refused(`cannot be read: write ${URL_FORM}`);
}

function refused(why: string, what = "URL"): DatabaseError {
  return new DatabaseError("FAILED_PRECONDITION", `the ${what} of the PostgreSQL database ${why}`);
}
