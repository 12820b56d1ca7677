import type { EngineKind } from "../../authz/engine/engine-kinds.ts";
import { MissingDriverError } from "../../common/drivers/missing-driver.ts";
import type { DatabaseKind } from "../../database/database.ts";
import type { ServiceConfig } from "../configuration/service-config.ts";

type LoadDriver = () => Promise<unknown>;

const DATABASE_DRIVERS: Readonly<Record<DatabaseKind, LoadDriver | undefined>> = {
  sqlite: undefined,
  postgres: () => import("../../common/drivers/pg.ts"),
};

const ENGINE_DRIVERS: Readonly<Record<EngineKind, LoadDriver | undefined>> = {
  embedded: undefined,
  spicedb: () => import("../../common/drivers/authzed.ts"),
  iam: undefined,
};

/**
 * The drivers that a configuration asks for and that are not installed, a line each.
 *
 * @param opensEngine whether an authorization engine is needed, and none is given
 */
export async function missingDrivers(
  { database, registry, security }: ServiceConfig,
  opensEngine: boolean,
): Promise<readonly string[]> {
  const { enabled, dev_allow_all: allowsAll, provider } = security.authz;
  const found = await Promise.all([
    database !== undefined && problemOf("database.driver", DATABASE_DRIVERS[database.driver]),
    opensEngine &&
      enabled &&
      !allowsAll &&
      problemOf("security.authz.provider", ENGINE_DRIVERS[provider]),
    registry !== undefined &&
      problemOf("registry.etcd", () => import("../../common/drivers/etcd3.ts")),
  ]);
  return found.filter((problem) => typeof problem === "string");
}

async function problemOf(key: string, load: LoadDriver | undefined): Promise<string | undefined> {
  try {
    await load?.();
    return undefined;
  } catch (error) {
    if (error instanceof MissingDriverError) return `${key}: ${error.message}`;
    throw error;
  }
}
