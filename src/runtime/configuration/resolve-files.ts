import { resolve } from "node:path";
import type { ServiceConfig } from "./service-config.ts";

/** The keys whose values are paths of files. */
const FILE_KEYS: ReadonlySet<string> = new Set([
  "certificate_file",
  "key_file",
  "client_ca_file",
  "ca_file",
  "token_file",
  "system_token_file",
  "password_file",
  "model",
  "file",
]);

/** The configuration with its files as absolute paths: they are relative to the configuration. */
export function resolveFiles(config: ServiceConfig, folder: string): ServiceConfig {
  return resolveIn(config, folder) as ServiceConfig;
}

/** @param isFile whether texts are paths: those of a key, or of the list that it has */
function resolveIn(value: unknown, folder: string, isFile = false): unknown {
  if (typeof value === "string") return isFile ? resolve(folder, value) : value;
  if (Array.isArray(value)) return value.map((item) => resolveIn(item, folder, isFile));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, resolveIn(item, folder, FILE_KEYS.has(key))]),
  );
}
