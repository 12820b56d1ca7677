import { DEFAULT_TARGETS, isOfEach, TARGETS, type Target } from "../compiler/targets.ts";
import { didYouMean } from "../diagnostics/nearest.ts";
import { UsageError } from "../diagnostics/usage-error.ts";

/** The options of `protoc-gen-svc-access`. */
export interface PluginOptions {
  readonly config?: string;
  readonly model?: string;
  readonly targets: readonly Target[];
  /** Whether the run has all files or is one of several; if absent, the request decides. */
  readonly files?: "all" | "each";
  /** The options of protoplugin for imports. */
  readonly importOptions: readonly string[];
}

const IMPORT_OPTIONS = ["import_extension", "rewrite_imports"];
const IMPORT_EXTENSIONS = ["none", "js", "ts"];
const OPTIONS = ["config", "model", "target", "files", ...IMPORT_OPTIONS];

/**
 * Parses the parameter of a CodeGeneratorRequest: `key=value`, joined with commas.
 *
 * @throws UsageError if an option is unknown or its value is wrong.
 */
export function parsePluginOptions(parameter: string): PluginOptions {
  let config: string | undefined;
  let model: string | undefined;
  let files: string | undefined;
  const targets: Target[] = [];
  const importOptions: string[] = [];
  for (const option of parameter.split(",")) {
    if (option.trim() === "") continue;
    const equals = option.indexOf("=");
    const key = (equals < 0 ? option : option.slice(0, equals)).trim();
    const value = equals < 0 ? "" : option.slice(equals + 1).trim();
    if (!OPTIONS.includes(key)) {
      const hint = didYouMean(key, OPTIONS) || `; the options are ${OPTIONS.join(", ")}`;
      throw new UsageError(`unknown option "${key}"${hint}`);
    }
    if (value === "") throw new UsageError(`option "${key}" needs a value: ${key}=…`);
    if (key === "config") config = single(key, config, value);
    else if (key === "model") model = single(key, model, value);
    else if (key === "files") files = single(key, files, value);
    else if (key === "target") targets.push(parseTarget(value));
    else importOptions.push(importOption(key, value));
  }
  const run = filesOption(files);
  if (run.files === "each") {
    const spanning = targets.find((target) => !isOfEach(target));
    if (spanning !== undefined) {
      throw new UsageError(
        `files=each generates from each file separately, but target=${spanning} needs all files; generate it in a run over all files`,
      );
    }
  }
  const all = run.files === "each" ? DEFAULT_TARGETS.filter(isOfEach) : DEFAULT_TARGETS;
  return {
    ...(config === undefined ? {} : { config }),
    ...(model === undefined ? {} : { model }),
    ...run,
    targets: targets.length === 0 ? all : targets,
    importOptions,
  };
}

/**
 * Finds the target with a name.
 *
 * @throws UsageError if there is none.
 */
export function parseTarget(name: string): Target {
  const target = TARGETS.find((known) => known === name);
  if (target === undefined) {
    const hint = didYouMean(name, TARGETS);
    throw new UsageError(`unknown target "${name}"; the targets are ${TARGETS.join(", ")}${hint}`);
  }
  return target;
}

function filesOption(value: string | undefined): { files?: "all" | "each" } {
  if (value === undefined) return {};
  if (value !== "all" && value !== "each") {
    throw new UsageError(`option "files" must be all or each, not "${value}"`);
  }
  return { files: value };
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
    throw new UsageError(`option "${key}" is set twice, to ${before} and ${value}`);
  }
  return value;
}
