import { existsSync } from "node:fs";
import { dirname, isAbsolute, join, relative, resolve } from "node:path";
import type { LoadedConfig } from "../config/load-config.ts";
import { type Diagnostic, formatDiagnostic } from "../diagnostics/diagnostic.ts";
import { MalformedFileError, UsageError } from "../diagnostics/usage-error.ts";
import type { Model } from "../model/index.ts";
import { readText } from "./read-text.ts";

/** The default name of the platform configuration. */
export const DEFAULT_CONFIG = "svc-access.yaml";

/** Where the platform configuration and the model are. */
export interface PlatformOptions {
  /** The path of the configuration. The default is the first `svc-access.yaml` in the folders, if any. */
  readonly config?: string | undefined;
  /** The path of the model of all services. The default is the models that the configuration names. */
  readonly model?: string | undefined;
  /** The folders to look in for the configuration, in order. */
  readonly folders: readonly string[];
}

/** The platform configuration and the authorization models. */
export interface Platform {
  readonly config: LoadedConfig | undefined;
  /** The configurations of other folders, which are not read. */
  readonly unread?: readonly string[];
  /** The model of a deployed service; undefined if none is configured or it has errors. */
  readonly modelOf: (service: string) => Model | undefined;
  /** The errors in the models. */
  readonly modelDiagnostics: readonly Diagnostic[];
}

/**
 * Reads the platform configuration and the models.
 *
 * @throws UsageError if a named file cannot be read, and MalformedFileError
 * if the configuration is wrong or the syntax of a model is.
 */
export async function loadPlatform(options: PlatformOptions): Promise<Platform> {
  for (const key of ["config", "model"] as const) {
    if (options[key] === "") throw new UsageError(`--${key} is empty: name a file, or remove it`);
  }
  const [configPath, ...unread] =
    options.config === undefined ? findConfigs(options.folders) : [options.config];
  const config = configPath === undefined ? undefined : await readConfig(configPath);
  const paths = modelPaths(options.model, config);
  const models = new Map<string, Model | undefined>();
  const modelDiagnostics: Diagnostic[] = [];
  const used = new Set(
    [paths.top, ...paths.services.values()].filter((path) => path !== undefined),
  );
  for (const path of used) {
    const by = options.model === undefined ? namedBy(config, path) : "";
    const { model, diagnostics } = await readModel(path, by);
    const isOneOfSeveral = model !== undefined && used.size > 1;
    models.set(path, isOneOfSeveral ? { ...model, file: displayPath(path) } : model);
    modelDiagnostics.push(...diagnostics);
  }
  return {
    config,
    unread: unread.map(displayPath),
    modelOf: (service) => models.get(paths.services.get(service) ?? paths.top ?? ""),
    modelDiagnostics,
  };
}

/** The paths of the models: the one of all services, and those of single services. */
interface ModelPaths {
  readonly top: string | undefined;
  readonly services: ReadonlyMap<string, string>;
}

function modelPaths(option: string | undefined, loaded: LoadedConfig | undefined): ModelPaths {
  if (option !== undefined) return { top: option, services: new Map() };
  if (loaded === undefined) return { top: undefined, services: new Map() };
  const { config, file } = loaded;
  const pathOf = (model: string) => modelPath(file, model);
  const services = new Map<string, string>();
  for (const [name, { model }] of Object.entries(config.services ?? {})) {
    if (model !== undefined) services.set(name, pathOf(model));
  }
  return { top: config.model === undefined ? undefined : pathOf(config.model), services };
}

function modelPath(configFile: string, model: string): string {
  return resolve(dirname(resolve(configFile)), model);
}

/** The position of the key that names a model, for a message. */
function namedBy(loaded: LoadedConfig | undefined, path: string): string {
  if (loaded === undefined) return "";
  const { config, file, locate } = loaded;
  const isIt = (model: string | undefined) =>
    model !== undefined && modelPath(file, model) === path;
  const service = Object.entries(config.services ?? {}).find(([, { model }]) => isIt(model));
  const key = isIt(config.model) || service === undefined ? [] : ["services", service[0]];
  const { line, column } = locate([...key, "model"]);
  return `, which ${file}:${line}:${column} names,`;
}

async function readModel(
  path: string,
  by: string,
): Promise<{ model: Model | undefined; diagnostics: readonly Diagnostic[] }> {
  const text = readText(path, `the model ${displayPath(path)}${by}`);
  const { parseModel } = await import("../model/index.ts");
  const { model, diagnostics } = parseModel(text, displayPath(path));
  if (diagnostics.some(({ rule }) => rule === "MODEL_SYNTAX")) {
    throw new MalformedFileError(diagnostics.map(formatDiagnostic));
  }
  return { model: diagnostics.length === 0 ? model : undefined, diagnostics };
}

/** The configurations of the folders, each once, in order. */
function findConfigs(folders: readonly string[]): string[] {
  const paths = new Map<string, string>();
  for (const folder of folders) {
    const path = join(folder, DEFAULT_CONFIG);
    const key = resolve(path);
    if (!paths.has(key) && existsSync(path)) paths.set(key, path);
  }
  return [...paths.values()];
}

async function readConfig(path: string): Promise<LoadedConfig> {
  const text = readText(path, `the configuration ${path}`);
  const { loadConfig } = await import("../config/load-config.ts");
  const result = loadConfig(text, displayPath(path), process.env);
  if (result.loaded === undefined) {
    throw new MalformedFileError(result.diagnostics.map(formatDiagnostic));
  }
  return result.loaded;
}

/** The path relative to the working directory, if it is below it. */
export function displayPath(path: string): string {
  const short = relative(process.cwd(), resolve(path));
  return short === "" || short.startsWith("..") || isAbsolute(short) ? path : short;
}
