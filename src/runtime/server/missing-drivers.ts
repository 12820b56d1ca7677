import { MissingDriverError } from "../../common/drivers/missing-driver.ts";
import type { ServiceConfig } from "../configuration/service-config.ts";

/**
 * The drivers that a configuration asks for and that are not installed, a line each.
 *
 * @param opensEngine whether the authorization engine is the configured one, and not one that is given
 */
export async function missingDrivers(
  { database, registry, security }: ServiceConfig,
  opensEngine: boolean,
): Promise<readonly string[]> {
  const { enabled, dev_allow_all: allowsAll, provider } = security.authz;
  const found = await Promise.all([
    database?.driver === "postgres" &&
      problemOf("database.driver", () => import("../../common/drivers/pg.ts")),
    opensEngine &&
      enabled &&
      !allowsAll &&
      provider === "spicedb" &&
      problemOf("security.authz.provider", () => import("../../common/drivers/authzed.ts")),
    registry !== undefined &&
      problemOf("registry.etcd", () => import("../../common/drivers/etcd3.ts")),
  ]);
  return found.filter((problem) => typeof problem === "string");
}

async function problemOf(key: string, load: () => Promise<unknown>): Promise<string | undefined> {
  try {
    await load();
    return undefined;
  } catch (error) {
    if (error instanceof MissingDriverError) return `${key}: ${error.message}`;
    throw error;
  }
}
