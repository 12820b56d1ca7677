import { redact } from "./redaction.ts";

/**
 * An error for the log where the place in the code is known, such as while a dependency is down: without
 * stacks, and without causes whose words its message repeats.
 */
export function briefError(error: unknown): unknown {
  return brief(redact(error));
}

/**
 * The redacted fields of a line, whose error is brief if it says that a dependency is down: that is expected, and the
 * place in the code does not help.
 */
export function withBriefOutage(fields: object): object {
  const { error } = fields as { readonly error?: unknown };
  if (typeof error !== "object" || error === null) return fields;
  const { code } = error as { readonly code?: unknown };
  return code === "UNAVAILABLE" ? { ...fields, error: brief(error) } : fields;
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
