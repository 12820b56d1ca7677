import type { Logger } from "../../src/common/logger.ts";
import type { DatabaseSettings } from "../../src/database/database.ts";

/** The default settings of the platform, with changes. */
export function settingsOf(of: Partial<DatabaseSettings>): DatabaseSettings {
  return {
    driver: "sqlite",
    max_open_conns: 20,
    max_idle_conns: 10,
    conn_max_lifetime_ns: 1800 * 1e9,
    slow_query_threshold_ns: 200 * 1e6,
    ...of,
  };
}

export const SILENT: Logger = { debug() {}, info() {}, warn() {}, error() {} };
