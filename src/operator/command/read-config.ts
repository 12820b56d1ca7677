import type { ServiceConfig } from "../../runtime/configuration/service-config.ts";

/**
 * Reads the configuration of a service, which is another program: sections that only it knows are
 * ignored. It finds a misspelt key itself when it starts.
 *
 * @throws ConfigurationError
 */
export async function readConfig(file: string): Promise<ServiceConfig> {
  const { loadServiceConfig } = await import("../../runtime/configuration/load-service-config.ts");
  return loadServiceConfig(file, { ignoreOtherSections: true }).config;
}
