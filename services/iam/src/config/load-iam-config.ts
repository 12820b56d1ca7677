import { type LoadedServiceConfig, loadServiceConfig } from "svc-access/runtime";
import { checkIamConfig } from "./check-iam-config.ts";
import { type IamConfig, iamSection } from "./iam-config.ts";

/** The configuration of svc-iam. */
export type LoadedIamConfig = LoadedServiceConfig<{ readonly iam: IamConfig }>;

/**
 * Loads the configuration of svc-iam.
 *
 * @throws ConfigurationError with all errors, each with its position
 */
export function loadIamConfig(file: string): LoadedIamConfig {
  return loadServiceConfig(file, { sections: { iam: iamSection }, checks: [checkIamConfig] });
}
