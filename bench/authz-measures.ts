import type { AuthorizationEngine } from "../src/authz/engine/engine.ts";
import type { CheckRequest } from "../src/authz/engine/requests.ts";
import { type CheckLimits, userOf } from "./authz-shapes.ts";
import type { MapPeer } from "./map-peer.ts";
import { atLeast, atMost, median, note } from "./verdict.ts";

const CHECKS = 200_000;
const BATCH = 1_000;
const LOOKUPS = 2_000;

/** Prints how many checks are made a second, and how long each takes, beside look-ups in a `Map`. */
export async function measureChecks(
  engine: AuthorizationEngine,
  peer: MapPeer,
  random: () => number,
  { what, next, limits }: { what: string; next: () => CheckRequest; limits: CheckLimits },
): Promise<void> {
  for (let index = 0; index < CHECKS / 10; index++) await engine.check(next());
  // The rate: requests are made a batch ahead, so that making them is not timed.
  let allowed = 0;
  let total = 0;
  let found = 0;
  const ratios: number[] = [];
  for (let batch = 0; batch < CHECKS / BATCH; batch++) {
    const requests = Array.from({ length: BATCH }, next);
    const keys = requests.map(() => peer.key(random));
    const begin = performance.now();
    for (const request of requests) if ((await engine.check(request)).allowed) allowed++;
    const middle = performance.now();
    for (const key of keys) if (peer.get(key) !== undefined) found++;
    const lookups = performance.now() - middle;
    total += middle - begin;
    ratios.push(lookups / (middle - begin));
  }
  if (found !== CHECKS) throw new Error("a key of the Map was not found");
  // The tail: each by itself.
  const [times, peerTimes] = [new Float64Array(CHECKS), new Float64Array(CHECKS)];
  for (let index = 0; index < CHECKS; index++) {
    const request = next();
    const key = peer.key(random);
    const begin = process.hrtime.bigint();
    await engine.check(request);
    const middle = process.hrtime.bigint();
    peer.get(key);
    const end = process.hrtime.bigint();
    times[index] = Number(middle - begin) / 1000;
    peerTimes[index] = Number(end - middle) / 1000;
  }
  times.sort();
  peerTimes.sort();
  const share = ((100 * allowed) / CHECKS).toFixed(0);
  note(
    `${what}: ${((CHECKS / total) * 1e3).toFixed(0)} checks a second, ${share}% allowed, p50 ${at(times, 0.5).toFixed(1)} us, p99 ${at(times, 0.99).toFixed(1)} us; of a look-up ${at(peerTimes, 0.99).toFixed(1)} us`,
  );
  atLeast("checks / look-ups in a Map", median(ratios), limits.rate);
  atMost("p99 / that of a look-up", at(times, 0.99) / at(peerTimes, 0.99), limits.p99);
}

/** Prints how long lookups take, beside a thousand look-ups in a `Map`. */
export async function measureLookups(
  engine: AuthorizationEngine,
  peer: MapPeer,
  random: () => number,
  limit: number,
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
    note(
      `LookupResources doc#${permission}: ${times.length} users of at most 1,000 results, ${mean} on average, p95 ${at(times, 0.95).toFixed(2)} ms`,
    );
    atMost("p95 / 1,000 look-ups in a Map", at(times, 0.95) / peer.lookupUs(random), limit);
  }
}

function at(sorted: ArrayLike<number>, quantile: number): number {
  return sorted[Math.floor(sorted.length * quantile)] ?? Number.NaN;
}
