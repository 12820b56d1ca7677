import type { DatabaseSettings } from "../database.ts";

const NS_PER_MINUTE = 60_000_000_000;

/** The settings for read-only use: few connections, and no log of slow statements. */
export function readingSettings(
  place: Pick<DatabaseSettings, "driver" | "url" | "file">,
): DatabaseSettings {
  return {
    ...place,
    max_open_conns: 2,
    max_idle_conns: 1,
    conn_max_lifetime_ns: 30 * NS_PER_MINUTE,
    slow_query_threshold_ns: Number.MAX_SAFE_INTEGER,
  };
}
