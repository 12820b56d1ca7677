import { DatabaseError } from "../database-error.ts";
import type { PostgresAddress } from "./postgres-address.ts";
import { quote } from "./postgres-rights.ts";

/** Explains an error of a PostgreSQL database and its fix. */
export function explainPostgres(
  error: unknown,
  name: string,
  address: PostgresAddress,
): DatabaseError {
  if (error instanceof DatabaseError) return error;
  const { code = "", message = "" } = error as NodeJS.ErrnoException;
  const options = { cause: error };
  const refused = (text: string) => new DatabaseError("FAILED_PRECONDITION", text, options);
  const unavailable = (text: string) => new DatabaseError("UNAVAILABLE", text, options);
  if (message.startsWith("SASL") && message.includes("password")) {
    return refused(`${name} requires a password: set one for user ${address.user}`);
  }
  switch (code) {
    case "28P01":
    case "28000":
      return refused(`${name} rejects the login of user ${address.user}: correct the credentials`);
    case "3D000":
      return refused(`${name} does not exist: create the database`);
    case "42501":
      return refused(
        `${name} does not let user ${address.user} do that (${oneLine(message)}): ${grantOf(error as PostgresProblem, address)}`,
      );
    case "25006":
      return unavailable(`${name} is read-only: name the primary server`);
    case "53100":
      return unavailable(`the disk of ${name} is full: free disk space`);
    case "53300":
      return unavailable(`${name} has no connection left: raise max_connections`);
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
  return unavailable(
    `${name} cannot be reached (${why}): check that it runs and that the address is correct`,
  );
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

/** The server's codes have five characters; all other codes are from the network. */
function isOfStatement(code: string): boolean {
  return /^[0-9A-Z]{5}$/.test(code) && !/^(08|57P)/.test(code) && !code.startsWith("E");
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}
