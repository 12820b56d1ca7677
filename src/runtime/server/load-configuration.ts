import { checkAuthnConfig } from "../authn/check-authn-config.ts";
import {
  type LoadedServiceConfig,
  type LoadServiceConfigOptions,
  loadServiceConfig as load,
} from "../configuration/load-service-config.ts";

/**
 * Loads the configuration of a service from a YAML file, with `${VAR}` and
 * `${VAR:-default}` (docs/requirements.md, CONF-1). Paths of files in it are relative to it.
 *
 * @param file - its path, absolute or relative to the working folder
 * @throws ConfigurationError with all errors, each with its position; also if the file cannot be
 * read
 *
 * @example
 * ```ts
 * const configuration = loadServiceConfig("service.yaml");
 * for (const warning of configuration.warnings) console.warn(warning);
 * ```
 */
export function loadServiceConfig(
  file: string,
  options: LoadServiceConfigOptions = {},
): LoadedServiceConfig {
  return load(file, { ...options, checks: [checkAuthnConfig, ...(options.checks ?? [])] });
}
