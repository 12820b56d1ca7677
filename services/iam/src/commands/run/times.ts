import { type Timestamp, timestampDate, timestampFromMs } from "@bufbuild/protobuf/wkt";
import { CommandError } from "./command-error.ts";

const UNIT_MS: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};
const DATE = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d))?$/;

/** A time for people; empty if there is none. */
export function timeText(time: Timestamp | undefined): string {
  return time === undefined ? "" : timestampDate(time).toISOString();
}

/**
 * The time of a flag: a date, or a span before or after now.
 *
 * @param direction -1 for a time ago, 1 for one to come
 * @throws CommandError
 */
export function timeOf(flag: string, text: string, direction: -1 | 1): Timestamp {
  const [, count, unit = ""] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const span = Number(count) * (UNIT_MS[unit] ?? 0);
  const time = count === undefined ? dateOf(text) : Math.max(0, Date.now() + direction * span);
  if (time >= 0) return timestampFromMs(time);
  const spanned = direction < 0 ? "a time ago: 15m, 24h, 7d" : "a time from now: 12h, 90d";
  throw new CommandError(
    `${flag} ${JSON.stringify(text)} is not a valid time: write 2026-11-22, 2026-11-22T10:00:00Z, or ${spanned}`,
  );
}

function dateOf(text: string): number {
  return DATE.test(text) ? Date.parse(text) : Number.NaN;
}
