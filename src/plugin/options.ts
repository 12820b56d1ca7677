import { TARGETS, type Target } from "../compiler/generate.ts";
import { UsageError } from "../compiler/usage-error.ts";
import { didYouMean } from "../diagnostics/nearest.ts";

/** The options of `protoc-gen-svc-access`. */
export interface PluginOptions {
  readonly config?: string;
  readonly model?: string;
  readonly targets: readonly Target[];
  /** Options of protoplugin that say how imports are written. */
  readonly importOptions: readonly string[];
}

const IMPORT_OPTIONS = ["import_extension", "rewrite_imports"];
const IMPORT_EXTENSIONS = ["none", "js", "ts"];
const OPTIONS = ["config", "model", "target", ...IMPORT_OPTIONS];

/**
 * Parses the parameter of a CodeGeneratorRequest: `key=value`, joined with commas.
 *
 * @throws UsageError where an option is unknown or its value is wrong.
 */
export function parsePluginOptions(parameter: string): PluginOptions {
  let config: string | undefined;
  let model: string | undefined;
  const targets: Target[] = [];
  const importOptions: string[] = [];
  for (const option of parameter.split(",")) {
    if (option.trim() === "") continue;
    const equals = option.indexOf("=");
    const key = (equals < 0 ? option : option.slice(0, equals)).trim();
    const value = equals < 0 ? "" : option.slice(equals + 1).trim();
    if (!OPTIONS.includes(key)) {
      const hint = didYouMean(key, OPTIONS) || `; known are ${OPTIONS.join(", ")}`;
      throw new UsageError(`unknown option "${key}"${hint}`);
    }
    if (value === "") throw new UsageError(`option "${key}" needs a value: ${key}=…`);
    if (key === "config") config = single(key, config, value);
    else if (key === "model") model = single(key, model, value);
    else if (key === "target") targets.push(parseTarget(value));
    else importOptions.push(importOption(key, value));
  }
  return {
    ...(config === undefined ? {} : { config }),
    ...(model === undefined ? {} : { model }),
    targets: targets.length === 0 ? TARGETS : targets,
    importOptions,
  };
}

/**
 * The target of a name.
 *
 * @throws UsageError where there is none.
 */
export function parseTarget(name: string): Target {
  const target = TARGETS.find((known) => known === name);
  if (target === undefined) {
    const hint = didYouMean(name, TARGETS);
    throw new UsageError(`unknown target "${name}"; known are ${TARGETS.join(", ")}${hint}`);
  }
  return target;
}

function importOption(key: string, value: string): string {
  if (key === "import_extension" && !IMPORT_EXTENSIONS.includes(value)) {
    throw new UsageError(
      `import_extension must be one of ${IMPORT_EXTENSIONS.join(", ")}, not "${value}"`,
    );
  }
  return `${key}=${value}`;
}

function single(key: string, before: string | undefined, value: string): string {
  if (before !== undefined && before !== value) {
    throw new UsageError(`option "${key}" is given twice, as ${before} and ${value}`);
  }
  return value;
}
