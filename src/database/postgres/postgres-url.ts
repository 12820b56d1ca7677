import { parameterProblems, parametersOf } from "./postgres-parameters.ts";
import { contradictions, environmentProblems, fileProblems } from "./postgres-tls.ts";

/** How a URL is written, for messages. A password in it would be redacted there. */
export const URL_FORM =
  "postgres://user@host:port/database, with special characters percent-encoded, such as %23 for # and %40 for @ in a password";

/**
 * What is wrong with a URL of PostgreSQL that the driver would accept, as the ends of sentences that
 * begin with its name. They contain neither the URL nor its password.
 */
export function postgresUrlProblems(url: string): readonly string[] {
  // The folder of a socket, and the name of the database after a space.
  if (url.startsWith("/")) return [];
  if (isCut(url)) return [`cannot be read: write ${URL_FORM}`];
  const problems = parameterProblems(url);
  return problems.length > 0 ? problems : contradictions(url);
}

/**
 * What is wrong with what a URL needs of this machine: the files that it names, and the mode of TLS of the environment.
 * In the same form; of a URL with other problems, none.
 */
export function postgresMachineProblems(url: string): readonly string[] {
  if (url.startsWith("/") || postgresUrlProblems(url).length > 0) return [];
  const problems = environmentProblems(url);
  return problems.length > 0 ? problems : fileProblems(url);
}

/**
 * Whether `/`, `?` or `#` ends a URL early, such as in a password: the rest would count as the name of
 * the database, and be printed, or be ignored.
 */
function isCut(url: string): boolean {
  if (url.includes("#")) return true;
  const [, path = "", query = ""] = /^postgres(?:ql)?:\/\/[^/?]*([^?]*)(.*)$/s.exec(url) ?? [];
  if (path.includes("@")) return true;
  // The values of these parameters may contain `@`.
  return query
    .split(/[?&]/)
    .some(
      (one) =>
        one.includes("@") &&
        !/^(user|password|options|application_name|host|ssl(rootcert|cert|key))=/.test(one),
    );
}

/**
 * A URL as the driver needs it. Its modes `prefer`, `require` and `verify-ca` mean `verify-full` as long
 * as `uselibpqcompat` is not set, for which it prints a warning of several lines.
 */
export function driverUrl(url: string): string {
  const query = url.indexOf("?") + 1;
  const isLibpq = parametersOf(url).some(([name, value]) => {
    return name === "uselibpqcompat" && value === "true";
  });
  if (isLibpq || query === 0 || url.startsWith("/")) return url;
  const parts = url.slice(query).split("&");
  const written = parts.map((part) => {
    const [[name, value = ""] = []] = [...new URLSearchParams(part)];
    const isVerified = name === "sslmode" && /^(prefer|require|verify-ca)$/.test(value);
    return isVerified ? "sslmode=verify-full" : part;
  });
  return url.slice(0, query) + written.join("&");
}
