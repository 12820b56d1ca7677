import { checkAuthnConfig } from "../authn/check-authn-config.ts";
import {
  type LoadedServiceConfig,
  type LoadServiceConfigOptions,
  loadServiceConfig as load,
} from "../configuration/load-service-config.ts";
import type { ConfigurationSections, SectionValues } from "../configuration/standard-schema.ts";

/**
 * Loads the configuration of a service from a YAML file, with `${VAR}` and
 * `${VAR:-default}` (docs/requirements.md, CONF-1). Paths of files in it are relative to it.
 *
 * @param file - its path, absolute or relative to the working folder
 * @throws ConfigurationError with all errors, each with its position; also if the file cannot be
 * read
 * @throws TypeError if `sections` declares what no file could have: a built-in key, or a value that
 * is no Standard Schema
 *
 * @typeParam Sections - the service's own sections, with their schemas
 *
 * @example
 * ```ts
 * const configuration = loadServiceConfig("service.yaml");
 * for (const warning of configuration.warnings) console.warn(warning);
 * ```
 *
 * @example
 * ```ts
 * // With a section `notes:` of its own, which a schema of zod or another library checks.
 * const { sections } = loadServiceConfig("service.yaml", { sections: { notes: notesSchema } });
 * console.log(sections.notes.max_items);
 * ```
 */
export function loadServiceConfig<Sections extends ConfigurationSections = Record<never, never>>(
  file: string,
  options: LoadServiceConfigOptions<Sections> = {},
): LoadedServiceConfig<SectionValues<Sections>> {
  return load(file, { ...options, checks: [checkAuthnConfig, ...(options.checks ?? [])] });
}
