import { existsSync, readFileSync } from "node:fs";
import { dirname, isAbsolute, join, relative, resolve } from "node:path";
import type { LoadedConfig } from "../config/load-config.ts";
import { type Diagnostic, formatDiagnostic } from "../diagnostics/diagnostic.ts";
import type { Model } from "../model/index.ts";
import { MalformedFileError, UsageError } from "./usage-error.ts";

/** The name under which the platform configuration is found without an option. */
export const DEFAULT_CONFIG = "svc-access.yaml";

/** Where the platform configuration and the model are. */
export interface PlatformOptions {
  /** The path of the configuration; absent, `svc-access.yaml` in one of the folders, where there is one. */
  readonly config?: string | undefined;
  /** The path of the model; absent, the one that the configuration names. */
  readonly model?: string | undefined;
  /** The folders to look in for the configuration, in order. */
  readonly folders: readonly string[];
}

/** What surrounds the descriptors: the platform configuration and the authorization model. */
export interface Platform {
  readonly config: LoadedConfig | undefined;
  /** Absent where none is configured, or where it has errors. */
  readonly model: Model | undefined;
  /** What is wrong with the model. */
  readonly modelDiagnostics: readonly Diagnostic[];
}

/**
 * Reads the platform configuration and the model.
 *
 * @throws UsageError where a file that is named cannot be read, and
 * MalformedFileError where the configuration is wrong or the model has no
 * syntax that could be judged.
 */
export async function loadPlatform(options: PlatformOptions): Promise<Platform> {
  const configPath = options.config ?? findConfig(options.folders);
  const config = configPath === undefined ? undefined : await readConfig(configPath);
  const modelPath = options.model ?? modelOf(config);
  if (modelPath === undefined) return { config, model: undefined, modelDiagnostics: [] };
  const by = options.model === undefined ? `, which ${config?.file} names,` : "";
  const text = readText(modelPath, `the model ${displayPath(modelPath)}${by}`);
  const { parseModel } = await import("../model/index.ts");
  const { model, diagnostics } = parseModel(text, displayPath(modelPath));
  if (diagnostics.some(({ rule }) => rule === "MODEL_SYNTAX")) {
    throw new MalformedFileError(diagnostics.map(formatDiagnostic).join("\n"));
  }
  return {
    config,
    model: diagnostics.length === 0 ? model : undefined,
    modelDiagnostics: diagnostics,
  };
}

function findConfig(folders: readonly string[]): string | undefined {
  return folders.map((folder) => join(folder, DEFAULT_CONFIG)).find((path) => existsSync(path));
}

async function readConfig(path: string): Promise<LoadedConfig> {
  const text = readText(path, `the configuration ${path}`);
  const { loadConfig } = await import("../config/load-config.ts");
  const result = loadConfig(text, displayPath(path), process.env);
  if (result.loaded === undefined) {
    throw new MalformedFileError(result.diagnostics.map(formatDiagnostic).join("\n"));
  }
  return result.loaded;
}

function modelOf(config: LoadedConfig | undefined): string | undefined {
  const model = config?.config.model;
  return config === undefined || model === undefined
    ? undefined
    : resolve(dirname(resolve(config.file)), model);
}

function readText(path: string, what: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(path));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") throw new UsageError(`${what} does not exist`);
    if (code === "EISDIR") throw new UsageError(`${what} is a folder; name a file`);
    if (code === "ERR_ENCODING_INVALID_ENCODED_DATA") {
      throw new UsageError(`${what} is not UTF-8 text`);
    }
    throw new UsageError(`${what} cannot be read: ${(error as Error).message}`);
  }
}

/** The path as a user who stands in the working directory would write it. */
export function displayPath(path: string): string {
  const short = relative(process.cwd(), resolve(path));
  return short === "" || short.startsWith("..") || isAbsolute(short) ? path : short;
}
