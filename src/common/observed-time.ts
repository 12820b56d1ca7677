/**
 * A process's own measurement of time. Its clock may be wrong: at a start, after a step of NTP, for
 * a while. The time that it has run cannot be wrong. So the two are kept apart: how long it has
 * run, all starts together, and what the clock has shown beyond that. Of the latter the least and
 * the most of each of the last 24 hours of running are kept, which bound the time on both sides:
 *
 *   earliest = ran + the least        latest = ran + the most
 *
 * A clock that jumps ahead moves `latest` at once, and `earliest` only when it has shown so for 24
 * hours of running. One that goes back moves `earliest` at once, and `latest` after as long.
 */
export interface ObservedTime {
  /** How long the service has run, in milliseconds. */
  readonly ran: number;
  /** The latest hours of running, the oldest first. */
  readonly hours: readonly ObservedHour[];
}

/** The number of an hour of running, and the least and the most that the clock was beyond `ran`. */
export type ObservedHour = readonly [hour: number, least: number, most: number];

const HOUR = 3_600_000;
/** For how many hours of running a clock must differ before it is trusted. */
export const BELIEVED_AFTER_HOURS = 24;

/** The state after the service has run for this time, and the clock shows a time. */
export function observe(
  { ran: before, hours }: ObservedTime,
  ran: number,
  clock: number,
): ObservedTime {
  const total = before + ran;
  const beyond = clock - total;
  const hour = Math.floor(total / HOUR);
  const kept = hours.filter(([of]) => of >= hour - BELIEVED_AFTER_HOURS && of < hour);
  const same = hours.find(([of]) => of === hour);
  const [, least, most] = same ?? [hour, beyond, beyond];
  const now: ObservedHour = [hour, Math.min(least, beyond), Math.max(most, beyond)];
  return { ran: total, hours: [...kept, now] };
}

/** The earliest time that it can be now, in milliseconds since the epoch. */
export function earliest({ ran, hours }: ObservedTime): number {
  return ran + Math.min(...hours.map(([, least]) => least));
}

/** The latest time that it can be now. */
export function latest({ ran, hours }: ObservedTime): number {
  return ran + Math.max(...hours.map(([, , most]) => most));
}

/** The clocks of a process. */
export interface Clocks {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Milliseconds that pass while the process runs, regardless of changes to its clock. */
  readonly monotonic: () => number;
}

export const SYSTEM_CLOCKS: Clocks = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
};
