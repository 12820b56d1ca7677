import type { ClientConfig } from "pg";
import { Client } from "../../common/drivers/pg.ts";
import { DatabaseError } from "../database-error.ts";

/** How a PostgreSQL server is reached. */
export interface PostgresAddress {
  /** For `pg`; holds the password, so it is in no message. */
  readonly config: ClientConfig;
  /** For messages: `database at host:port`. */
  readonly place: string;
  /** For messages too: a URL without the password. */
  readonly url: string;
  readonly user: string;
}

/** How long a connection may take to be made, in milliseconds. */
const CONNECT_TIMEOUT = 5000;
/** After how long without an answer a server counts as lost, in milliseconds. */
const QUERY_TIMEOUT = 30_000;

/** Reads a URL (`postgres://user:password@host:port/database`) or the settings of `pg`; the environment fills in. */
export function postgresAddress(target: string | ClientConfig): PostgresAddress {
  const given = typeof target === "string" ? { connectionString: target } : target;
  const config: ClientConfig = {
    connectionTimeoutMillis: CONNECT_TIMEOUT,
    query_timeout: QUERY_TIMEOUT,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    application_name: "svc-access",
    ...given,
  };
  try {
    const url = config.connectionString;
    // pg takes any other text for the name of a database on a host "base".
    if (url !== undefined && !/^(postgres(ql)?:\/\/|socket:|\/)/.test(url)) throw new TypeError();
    if (url !== undefined && isCutPassword(url)) throw new TypeError();
    const { host, port, database = "", user = "" } = new Client(config);
    const at = `${encodeURIComponent(user)}@${encodeURIComponent(host)}:${port}`;
    return {
      config,
      place: `${database} at ${host}:${port}`,
      url: `postgres://${at}/${encodeURIComponent(database)}`,
      user,
    };
  } catch {
    // The error of a URL may quote it, with its password.
    throw new DatabaseError(
      "FAILED_PRECONDITION",
      "the URL of the PostgreSQL store cannot be read: write postgres://user:password@host:port/database, special characters in percent-encoding",
    );
  }
}

/** Whether `/`, `?` or `#` in a password ends it early: the rest would be taken for the database, and shown. */
function isCutPassword(url: string): boolean {
  const [, path = "", query = ""] = /^postgres(?:ql)?:\/\/[^/?#]*([^?#]*)(.*)$/s.exec(url) ?? [];
  // The value of a parameter may hold it.
  return path.includes("@") || /^[^=]*@/.test(query) || /#.*@/s.test(query);
}
