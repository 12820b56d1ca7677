import { type LoadedServiceConfig, loadServiceConfig } from "svc-access/runtime";
import { checkIamConfig } from "./check-iam-config.ts";
import { checkModelFile, checkNamedFiles } from "./check-named-files.ts";
import { type IamConfig, iamSection } from "./iam-config.ts";

/** The configuration of svc-iam. */
export type LoadedIamConfig = LoadedServiceConfig<{ readonly iam: IamConfig }>;

/** Where svc-iam listens if its configuration does not say it. */
const ADDRESSES = {
  http: "0.0.0.0:18080",
  grpc: "0.0.0.0:19080",
  metrics: "127.0.0.1:19180",
} as const;

/**
 * Loads the configuration of svc-iam, for a server.
 *
 * @throws ConfigurationError with all errors, each with its position; also those of the files that
 * it names
 */
export function loadIamConfig(file: string): LoadedIamConfig {
  return loadServiceConfig(file, {
    sections: { iam: iamSection },
    addresses: ADDRESSES,
    checks: [checkIamConfig, checkNamedFiles],
  });
}

/**
 * Loads it for a command beside the server. Its user may not be allowed to read the private key of
 * the server, so a command that uses a file reports its problems itself.
 *
 * @throws ConfigurationError with all errors but those of the files, each with its position
 */
export function loadCommandConfig(file: string): LoadedIamConfig {
  return loadServiceConfig(file, {
    sections: { iam: iamSection },
    addresses: ADDRESSES,
    ignoreNamedFiles: true,
    checks: [checkIamConfig],
  });
}

/**
 * Loads it for a migration, which writes the model to SpiceDB, where it stays.
 *
 * @throws ConfigurationError as `loadCommandConfig`, and if the model cannot be that of svc-iam
 */
export function loadMigrationConfig(file: string): LoadedIamConfig {
  return loadServiceConfig(file, {
    sections: { iam: iamSection },
    addresses: ADDRESSES,
    ignoreNamedFiles: true,
    checks: [checkIamConfig, (config, { iam }) => checkModelFile(config, iam)],
  });
}
