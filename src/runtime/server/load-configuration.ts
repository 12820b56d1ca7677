import { statSync } from "node:fs";
import { checkAuthnConfig, checkAuthnKeys } from "../authn/check-authn-config.ts";
import type { ServiceConfigProblem } from "../configuration/configuration-error.ts";
import {
  type LoadedServiceConfig,
  type LoadServiceConfigOptions,
  loadServiceConfig as load,
} from "../configuration/load-service-config.ts";
import type { ServiceConfig } from "../configuration/service-config.ts";
import type { ConfigurationSections, SectionValues } from "../configuration/standard-schema.ts";
import { checkNamedFiles } from "./check-named-files.ts";

/**
 * Loads the configuration of a service from a YAML file, with `${VAR}` and
 * `${VAR:-default}` (docs/requirements.md, CONF-1). Paths of files in it are relative to it.
 *
 * @param file - its path, absolute or relative to the working folder
 * @throws ConfigurationError with all errors, each with its position; also if the file cannot be
 * read, or one that it names for certificates, keys and tokens
 * @throws TypeError if `sections` declares what no file could have: a built-in key, or a value that
 * is not a Standard Schema
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
  const files =
    options.ignoreNamedFiles === true ? [checkAuthnKeys] : [checkAuthnConfig, checkNamedFiles];
  const checks = [...files, checkModelFile, ...(options.checks ?? [])];
  return load(file, { ...options, checks });
}

/** A model that does not exist, at the key that names it; commands that need no model do not check it. */
function* checkModelFile({ security: { authz } }: ServiceConfig): Iterable<ServiceConfigProblem> {
  const { enabled, dev_allow_all, model } = authz;
  if (model === undefined || !enabled || dev_allow_all || !isMissing(model)) return;
  yield {
    path: ["security", "authz", "model"],
    message: `security.authz.model: the model ${model} does not exist; create it, or name another file`,
  };
}

/** A file that exists and cannot be read is reported when the model is read. */
function isMissing(file: string): boolean {
  try {
    return statSync(file, { throwIfNoEntry: false }) === undefined;
  } catch {
    return false;
  }
}
