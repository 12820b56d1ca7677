/** A duration of the Gateway API (GEP-2257). */
export const DURATION = /^(?:[0-9]{1,5}(?:h|m|s|ms)){1,4}$/;
const PART = /([0-9]{1,5})(ms|[hms])/g;
const UNIT_MS: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1000, ms: 1 };
/** Node.js timers are limited to 24 days; the configuration of a service allows 20. */
const MAX_MS = 480 * 3_600_000;

/** The milliseconds of a text such as `5s` or `1m30s`; undefined if it is not a valid duration, or too short or long. */
export function durationMs(text: string): number | undefined {
  if (!DURATION.test(text)) return undefined;
  let sum = 0;
  for (const [, count, unit] of text.matchAll(PART)) {
    sum += Number(count) * (UNIT_MS[unit as string] as number);
  }
  return sum > 0 && sum <= MAX_MS ? sum : undefined;
}

/** Milliseconds as a Gateway API duration; zero is `0s`, which means no limit there. */
export function formatDuration(ms: number): string {
  let rest = ms;
  let text = "";
  for (const [unit, size] of Object.entries(UNIT_MS)) {
    const count = Math.floor(rest / size);
    if (count === 0) continue;
    text += `${count}${unit}`;
    rest -= count * size;
  }
  return text === "" ? "0s" : text;
}
