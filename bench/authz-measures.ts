import type { AuthorizationEngine, CheckRequest } from "../src/authz/engine.ts";
import { userOf } from "./authz-shapes.ts";

const CHECKS = 200_000;
const BATCH = 1_000;
const LOOKUPS = 2_000;

/** Prints how many checks are made a second, and how long each takes. */
export async function measureChecks(
  engine: AuthorizationEngine,
  what: string,
  next: () => CheckRequest,
): Promise<void> {
  for (let index = 0; index < CHECKS / 10; index++) await engine.check(next());
  // The rate: requests are made a batch ahead, so that making them is not timed.
  let allowed = 0;
  let total = 0;
  for (let batch = 0; batch < CHECKS / BATCH; batch++) {
    const requests = Array.from({ length: BATCH }, next);
    const begin = performance.now();
    for (const request of requests) if ((await engine.check(request)).allowed) allowed++;
    total += performance.now() - begin;
  }
  // The tail: each check by itself.
  const times = new Float64Array(CHECKS);
  for (let index = 0; index < CHECKS; index++) {
    const request = next();
    const begin = process.hrtime.bigint();
    await engine.check(request);
    times[index] = Number(process.hrtime.bigint() - begin) / 1000;
  }
  times.sort();
  const share = ((100 * allowed) / CHECKS).toFixed(0);
  const rate = (CHECKS / total) * 1e3;
  process.stdout.write(
    `  ${what}: ${rate.toFixed(0)} checks a second, ${share}% allowed, p50 ${at(times, 0.5).toFixed(1)} us\n`,
  );
  limit("300,000 / checks a second", 300_000 / rate, 1);
  limit("p99 in us", at(times, 0.99), 20);
}

/** Prints how long lookups take. */
export async function measureLookups(
  engine: AuthorizationEngine,
  random: () => number,
): Promise<void> {
  for (const permission of ["view", "edit"]) {
    const times: number[] = [];
    let results = 0;
    for (let index = 0; times.length < LOOKUPS && index < LOOKUPS * 4; index++) {
      const subject = { type: "user", id: userOf(random) };
      const begin = performance.now();
      const page = await engine.lookupResources({ resourceType: "doc", permission, subject });
      const time = performance.now() - begin;
      if (page.nextCursor !== undefined) continue;
      times.push(time);
      results += page.items.length;
    }
    times.sort((left, right) => left - right);
    const mean = (results / times.length).toFixed(0);
    process.stdout.write(
      `  LookupResources doc#${permission}: ${times.length} users of at most 1,000 results, ${mean} on average\n`,
    );
    limit("p95 in ms", at(times, 0.95), 2);
  }
}

function at(sorted: ArrayLike<number>, quantile: number): number {
  return sorted[Math.floor(sorted.length * quantile)] ?? Number.NaN;
}

/** Prints a figure and whether it is within its limit. */
export function limit(what: string, value: number, most: number): void {
  const verdict = value <= most ? "holds" : "DOES NOT HOLD";
  process.stdout.write(
    `  ${what.padEnd(34)} ${value.toFixed(3).padStart(9)}    limit ${most}  ${verdict}\n`,
  );
}
