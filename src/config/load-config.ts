import { compareDiagnostics, type Diagnostic } from "../diagnostics/diagnostic.ts";
import { checkConfig } from "./check-config.ts";
import { configSchema, type PlatformConfig } from "./config.ts";
import { type ConfigPath, readConfigDocument, type TextPlace } from "./config-document.ts";
import { describeIssue } from "./describe-issue.ts";
import type { Variables } from "./variables.ts";

/** A loaded configuration. */
export interface LoadedConfig {
  readonly config: PlatformConfig;
  readonly file: string;
  /** The position of a value, or of the nearest parent that the file has. */
  readonly locate: (path: ConfigPath) => TextPlace;
}

/**
 * Parses and validates `svc-access.yaml`: strict keys, `${VAR}` references, and
 * references between its parts.
 *
 * @param text - the content of the file
 * @param file - its path, for diagnostics
 * @param variables - the environment that `${VAR}` reads
 * @returns the configuration, or all its errors
 */
export function loadConfig(
  text: string,
  file: string,
  variables: Variables,
): { loaded: LoadedConfig } | { loaded?: undefined; diagnostics: Diagnostic[] } {
  const { value, problems, locate } = readConfigDocument(text, variables);
  const diagnostics = problems.map((problem): Diagnostic => {
    return { severity: "error", file, ...problem };
  });
  if (value === undefined) return { diagnostics };
  const report = (rule: string, message: string, path: ConfigPath) =>
    diagnostics.push({ rule, severity: "error", message, file, ...locate(path) });

  const parsed = configSchema.safeParse(value, { reportInput: true });
  const isUnset = problems.some(({ rule }) => rule === "CONFIG_VARIABLE");
  for (const issue of parsed.error?.issues ?? []) {
    // If a variable is not set, the schema must not report the text with its reference.
    if (isUnset && typeof issue.input === "string" && issue.input.includes("${")) continue;
    for (const { rule, message, path } of describeIssue(issue)) report(rule, message, path);
  }
  for (const path of namesThatVanish(value)) {
    report(
      "CONFIG_KEY",
      `${path.join(".")} must be a name of lower-case letters, digits and -`,
      path,
    );
  }
  if (diagnostics.length === 0 && parsed.data !== undefined) {
    for (const { path, message } of checkConfig(parsed.data)) report("CONFIG_VALUE", message, path);
  }
  if (diagnostics.length > 0 || parsed.data === undefined) {
    return { diagnostics: diagnostics.sort(compareDiagnostics) };
  }
  return { loaded: { config: parsed.data, file, locate } };
}

/** zod silently drops the key `__proto__`, so it is reported here. */
function namesThatVanish(value: unknown): ConfigPath[] {
  return ["services", "frontends"]
    .filter((key) => {
      const named = (value as Record<string, unknown>)[key];
      return typeof named === "object" && named !== null && Object.hasOwn(named, "__proto__");
    })
    .map((key) => [key, "__proto__"]);
}
