import { didYouMean } from "../../diagnostics/nearest.ts";

/** A parameter of a URL: its name and value, without escapes. */
export type Parameter = readonly [name: string, value: string];

/** Why a value is not one of its parameter; undefined if it is. */
type ValueCheck = (value: string) => string | undefined;

/** The longest time of a timer of Node.js, in milliseconds. */
const MAX_MS = 2_147_483_647;

const anyText: ValueCheck = () => undefined;
const notEmpty: ValueCheck = (value) => (value === "" ? "must not be empty" : undefined);

function oneOf(...values: readonly string[]): ValueCheck {
  return (value) => {
    if (values.includes(value)) return undefined;
    return `must be one of ${values.join(", ")}${didYouMean(value, values)}`;
  };
}

function wholeNumber(what: string, least: number, most: number): ValueCheck {
  return (value) => {
    const isIn = /^\d{1,10}$/.test(value) && Number(value) >= least && Number(value) <= most;
    return isIn ? undefined : `must be ${what} from ${least} to ${most}`;
  };
}

/** Checks the mode of TLS, in a URL or in the environment. */
export const sslModeProblem = oneOf(
  "disable",
  "no-verify",
  "prefer",
  "require",
  "verify-ca",
  "verify-full",
);

const milliseconds = (least: number) => wholeNumber("whole milliseconds", least, MAX_MS);

/**
 * The parameters that the driver or this package uses. The driver ignores all others, so that a
 * misspelt `sslmode` would turn TLS off.
 */
const KNOWN: ReadonlyMap<string, ValueCheck> = new Map([
  ["application_name", anyText],
  ["client_encoding", oneOf("UTF8", "utf8", "UTF-8", "utf-8")],
  ["connect_timeout", wholeNumber("whole seconds", 1, Math.floor(MAX_MS / 1000))],
  ["host", notEmpty],
  ["idle_in_transaction_session_timeout", milliseconds(0)],
  ["lock_timeout", milliseconds(0)],
  ["options", anyText],
  ["password", anyText],
  ["port", wholeNumber("a number", 1, 65_535)],
  // The driver would give up a statement at once with 0.
  ["query_timeout", milliseconds(1)],
  ["ssl", oneOf("true", "1", "0", "no-verify")],
  ["sslcert", notEmpty],
  ["sslkey", notEmpty],
  ["sslmode", sslModeProblem],
  ["sslnegotiation", oneOf("postgres", "direct")],
  ["sslrootcert", notEmpty],
  ["statement_timeout", milliseconds(0)],
  ["user", anyText],
  ["uselibpqcompat", oneOf("true", "false")],
]);

/** Likewise, of a URL `socket:`, which has them instead of a path. */
const OF_SOCKETS: ReadonlyMap<string, ValueCheck> = new Map([
  ["db", anyText],
  ["encoding", anyText],
]);

/** What other clients of PostgreSQL take. */
const OF_OTHERS: ReadonlySet<string> = new Set([
  "channel_binding",
  "fallback_application_name",
  "gssencmode",
  "hostaddr",
  "keepalives",
  "keepalives_idle",
  "load_balance_hosts",
  "passfile",
  "pgbouncer",
  "pool_timeout",
  "replication",
  "require_auth",
  "schema",
  "search_path",
  "service",
  "sslcrl",
  "sslpassword",
  "target_session_attrs",
  "tcp_user_timeout",
]);

/** The parameters of a URL, as the driver reads them. */
export function parametersOf(url: string): readonly Parameter[] {
  return partsOf(url).flatMap((part) => [...new URLSearchParams(part)]);
}

/** The parameters as they are written. */
function partsOf(url: string): readonly string[] {
  const query = url.indexOf("?");
  return query < 0 ? [] : url.slice(query + 1).split("&");
}

/** The problems of the parameters of a URL, each by itself; without values, which may be secrets. */
export function parameterProblems(url: string): readonly string[] {
  const known = url.startsWith("socket:") ? new Map([...KNOWN, ...OF_SOCKETS]) : KNOWN;
  const seen = new Set<string>();
  const problems = partsOf(url).flatMap((part) => {
    const [parameter] = new URLSearchParams(part);
    if (parameter === undefined) return [];
    const [name, value] = parameter;
    const check = known.get(name);
    if (check === undefined) return [unknown(part, name, [...known.keys()])];
    if (seen.has(name)) return [`has the parameter ${name} more than once; keep one of them`];
    seen.add(name);
    const why = check(value);
    return why === undefined ? [] : [`has the parameter ${name}, which ${why}`];
  });
  return [...new Set(problems)];
}

/** The name is left out if it may be a part of a password with an `&` that is not escaped. */
function unknown(part: string, name: string, names: readonly string[]): string {
  const known = `known parameters are ${names.join(", ")}`;
  const place = "write the database as the path of the URL";
  if (/^(database|dbname)=/i.test(part)) return `has the unknown parameter ${name}; ${place}`;
  if (OF_OTHERS.has(name)) {
    return `has the parameter ${name}, which the driver does not have; remove it; ${known}`;
  }
  const meant = didYouMean(name, names);
  if (meant === "") return `has an unknown parameter; ${known}`;
  const said = part.includes("=") ? `the unknown parameter ${name}` : "an unknown parameter";
  return `has ${said}${meant} Known${known.slice("known".length)}`;
}
