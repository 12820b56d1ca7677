import { redactText } from "../operation/redaction/redact-text.ts";
import { REDACTED } from "../operation/redaction/redaction.ts";
import type { ServiceConfig } from "./service-config.ts";

/** The keys of a configuration whose values are secrets. */
const SECRET_KEYS: ReadonlySet<string> = new Set([
  "token",
  "system_token",
  "client_secret",
  "password",
]);

/** The configuration as it may be shown: each secret as `***`, also the password in a URL. */
export function redactedConfig(config: ServiceConfig): Readonly<Record<string, unknown>> {
  return redactIn(config, false) as Record<string, unknown>;
}

function redactIn(value: unknown, isSecret: boolean): unknown {
  if (Array.isArray(value)) return value.map((item) => redactIn(item, isSecret));
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key, redactIn(item, SECRET_KEYS.has(key))]),
    );
  }
  if (value === undefined) return value;
  if (isSecret) return REDACTED;
  return typeof value === "string" ? redactText(value) : value;
}
