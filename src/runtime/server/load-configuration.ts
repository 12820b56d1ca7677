import { checkAuthnConfig } from "../authn/check-authn-config.ts";
import {
  type LoadedServiceConfig,
  type LoadServiceConfigOptions,
  loadServiceConfig as load,
} from "../configuration/load-service-config.ts";

/**
 * Loads the configuration of a service from a YAML file, with `${VAR}` and
 * `${VAR:-default}`. Paths of files in it are relative to it.
 *
 * @throws ConfigurationError all that is wrong, each with its place
 *
 * @example
 * await runServer(() => ({
 *   configuration: loadServiceConfig("hub.yaml"),
 *   bindings: [bindSkillService(handlers)],
 * }));
 */
export function loadServiceConfig(
  file: string,
  options: LoadServiceConfigOptions = {},
): LoadedServiceConfig {
  return load(file, { ...options, checks: [checkAuthnConfig, ...(options.checks ?? [])] });
}
