import { connectionFailure } from "../../common/connection-failure.ts";
import { DatabaseError, NoAnswerError } from "../database-error.ts";
import type { PostgresAddress } from "./postgres-address.ts";
import { parametersOf } from "./postgres-parameters.ts";
import { quote } from "./postgres-rights.ts";

/** Explains an error of a PostgreSQL database and its fix. */
export function explainPostgres(
  error: unknown,
  name: string,
  address: PostgresAddress,
): DatabaseError {
  if (error instanceof DatabaseError) return error;
  if (error instanceof NoAnswerError) {
    return new DatabaseError(
      "UNAVAILABLE",
      `${name} gave ${error.message}: check that it runs, and what its statements wait for, such as a lock`,
    );
  }
  const { code = "", message = "" } = error as NodeJS.ErrnoException;
  const options = { cause: error };
  const refused = (text: string) => new DatabaseError("FAILED_PRECONDITION", text, options);
  const unavailable = (text: string) => new DatabaseError("UNAVAILABLE", text, options);
  if (message.startsWith("SASL") && message.includes("password")) {
    return refused(`${name} requires a password: set one for user ${address.user}`);
  }
  switch (code) {
    case "28000":
      if (/no encryption|SSL off/.test(message)) {
        return refused(
          `${name} refuses user ${address.user} without TLS (${oneLine(message)}): write sslmode=verify-full in the URL, or allow it in pg_hba.conf`,
        );
      }
      if (message.includes("valid client certificate")) {
        return refused(
          `${name} requires a client certificate: name its files by sslcert and sslkey in the URL`,
        );
      }
      return refused(`${name} rejects the login of user ${address.user}: correct the credentials`);
    case "28P01":
      return refused(`${name} rejects the login of user ${address.user}: correct the credentials`);
    case "3D000":
      return refused(`${name} does not exist: create the database`);
    case "42501":
      return refused(
        `user ${address.user} lacks a privilege in ${name} (${oneLine(message)}): ${grantOf(error as PostgresProblem, address)}`,
      );
    case "25006":
      return unavailable(readOnlyReason(name));
    case "53100":
      return unavailable(`the disk of ${name} is full: free disk space`);
    case "53300":
      return unavailable(
        `${name} has no connection left (${oneLine(message)}): raise max_connections, or the connection limit of the role or database`,
      );
    case "55P03":
      return unavailable(tooSlow(name, message));
    case "57014":
      if (message.includes("timeout")) return unavailable(tooSlow(name, message));
      break;
    default:
  }
  if (isOfStatement(code)) {
    return unavailable(`${name} fails: ${oneLine(message)} (${code})`);
  }
  if (message === "Query read timeout") {
    return unavailable(
      `${name} did not answer a statement in time: check what it waits for, or raise query_timeout (milliseconds) in the URL`,
    );
  }
  const why = oneLine(message) || code;
  const reason = tlsReason(why, code, address);
  if (reason !== undefined) return unavailable(`${name} ${reason}`);
  return unavailable(
    `${name} cannot be reached (${why}): check that it runs and that the address is correct`,
  );
}

/** Why TLS fails, and what to change, after the name of the database; undefined for other failures. */
function tlsReason(why: string, code: string, { config }: PostgresAddress): string | undefined {
  const noTls =
    "has no TLS, which the URL requires: set ssl = on in the server, or write sslmode=disable in the URL if the network is trusted";
  if (why === "The server does not support SSL connections") return noTls;
  switch (connectionFailure(`${code} ${why}`)) {
    case "certificate not trusted": {
      const file = parametersOf(config.connectionString ?? "").find(
        ([name]) => name === "sslrootcert",
      )?.[1];
      return file === undefined
        ? `has a certificate of a CA that Node.js does not know (${why}): name the file of that CA by sslrootcert in the URL`
        : `has a certificate that no CA in ${JSON.stringify(file)} has signed (${why}): write its CA into that file, or name another by sslrootcert in the URL`;
    }
    case "certificate for another name":
      return `has a certificate for another host (${why}): write a name that the certificate has as the host of the URL`;
    case "certificate expired":
      return "has a certificate that has expired: renew it";
    case "certificate not valid yet":
      return "has a certificate that is not valid yet: check the clocks";
    case "client certificate required":
      return `requires a client certificate (${why}): name its files by sslcert and sslkey in the URL`;
    case "client certificate refused":
      return `refuses the client certificate (${why}): correct sslcert and sslkey in the URL, or the CA in ssl_ca_file of the server`;
    case "no TLS there":
      return noTls;
    default:
      return undefined;
  }
}

/** Why a database that answers cannot store anything. */
export function readOnlyReason(name: string): string {
  return `${name} is read-only: name the primary server`;
}

function tooSlow(name: string, message: string): string {
  return `${name} ended a statement that took too long (${oneLine(message)}): check what it waits for, such as a lock`;
}

interface PostgresProblem {
  readonly message?: string;
  readonly detail?: string;
}

/** The statement that grants the missing privilege, which the server does not name for tables. */
function grantOf(
  { message = "", detail = "" }: PostgresProblem,
  { user }: PostgresAddress,
): string {
  const [, kind = "", name = ""] =
    /permission denied for (database|schema) "?(.+?)"?$/.exec(oneLine(message)) ?? [];
  const owner = `let the owner of the ${kind} run grant`;
  const to = `on ${kind} ${quote(name)} to ${quote(user)};`;
  if (kind === "schema") return `${owner} usage ${to}`;
  if (kind === "database" && detail.includes("CONNECT")) return `${owner} connect ${to}`;
  if (kind === "database") {
    return `run svc-access database migrate as the owner of the database, or let them run grant create ${to}`;
  }
  return "grant the privilege, or connect as the owner";
}

/** Whether a connection is unusable after an error, even before `pg` detects its end. */
export function breaksConnection(error: unknown): boolean {
  const { code = "", severity } = error as { code?: string; severity?: string };
  return severity === "FATAL" || !isOfStatement(code);
}

/**
 * Whether an error is about the statement and its data, such as a unique violation, and not about
 * the database: the program handles it, or has a mistake.
 */
export function isOfProgram(error: unknown): boolean {
  const { code = "", severity } = error as { code?: string; severity?: string };
  if (severity === "FATAL" || code === "42501" || code === "25006") return false;
  return /^(0[9A-Z]|2[0-7BDF]|3[489BF]|4[024]|54|P0)[0-9A-Z]{3}$/.test(code);
}

/** The server's codes have five characters; all other codes are from the network. */
function isOfStatement(code: string): boolean {
  return /^[0-9A-Z]{5}$/.test(code) && !/^(08|57P)/.test(code) && !code.startsWith("E");
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}
