import { isOfProgram as isOfPostgresProgram } from "../../../database/postgres/postgres-errors.ts";
import { isOfProgram as isOfSqliteProgram } from "../../../database/sqlite/sqlite-errors.ts";
import { redact } from "./redaction.ts";

/**
 * What the language throws at a mistake. An HTTP client throws one, too, but with the failed connection as its cause. A
 * `SyntaxError` is none: it comes of an answer that is not JSON, such as the page of a proxy.
 */
const MISTAKES: ReadonlySet<unknown> = new Set(["TypeError", "RangeError", "ReferenceError"]);

/**
 * An error for the log where the place in the code is known, such as while a dependency is down: without
 * stacks, and without causes whose words its message repeats. What a defect has caused stays whole.
 */
export function briefError(error: unknown): unknown {
  return briefUnlessDefect(redact(error));
}

/**
 * The redacted fields of a line, whose error is brief if it says that a dependency is down: that is expected, and the
 * place in the code does not help.
 */
export function withBriefOutage(fields: object): object {
  const { error } = fields as { readonly error?: unknown };
  if (typeof error !== "object" || error === null) return fields;
  const { code } = error as { readonly code?: unknown };
  return code === "UNAVAILABLE" ? { ...fields, error: briefUnlessDefect(error) } : fields;
}

function briefUnlessDefect(shown: unknown): unknown {
  return isOfDefect(shown) ? shown : brief(shown);
}

/** Whether the first of the causes is a mistake in a program: whoever explained it took it for an outage. */
function isOfDefect(shown: unknown): boolean {
  let first = shown;
  for (let cause = shown; typeof cause === "object" && cause !== null; ) {
    first = cause;
    cause = (cause as { readonly cause?: unknown }).cause;
  }
  if (typeof first !== "object" || first === null) return false;
  const { type } = first as { readonly type?: unknown };
  return MISTAKES.has(type) || isOfPostgresProgram(first) || isOfSqliteProgram(first);
}

function brief(shown: unknown): unknown {
  if (typeof shown !== "object" || shown === null || !("stack" in shown)) return shown;
  const { stack: _, cause, ...rest } = shown as Record<string, unknown>;
  if (cause === undefined || isSaid(rest["message"], cause)) return rest;
  return { ...rest, cause: brief(cause) };
}

function isSaid(message: unknown, cause: unknown): boolean {
  const words = typeof cause === "object" && cause !== null && "message" in cause && cause.message;
  return typeof message === "string" && typeof words === "string" && message.includes(words);
}
