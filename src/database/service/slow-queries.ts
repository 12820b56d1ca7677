import type { Logger as QueryLogger } from "kysely";
import type { Logger } from "../../common/logger.ts";

const NANOSECONDS = 1_000_000;
const SHOWN = 500;

/** Logs statements that take longer than the threshold, without their parameters. */
export function slowQueries(logger: Logger, thresholdNanoseconds: number): QueryLogger {
  const threshold = thresholdNanoseconds / NANOSECONDS;
  return ({ level, query, queryDurationMillis }) => {
    if (queryDurationMillis < threshold) return;
    const duration_ms = Math.round(queryDurationMillis);
    const failed = level === "error";
    logger.warn({ sql: query.sql.slice(0, SHOWN), duration_ms, failed }, "slow query");
  };
}
