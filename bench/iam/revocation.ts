/**
 * How long a token still counts after its session was ended: at the other of two replicas of svc-iam over
 * PostgreSQL and SpiceDB, and at a service that follows the revocations of the first. Skipped, and named, where one
 * of these is absent. `node bench/iam/revocation.ts` runs it alone.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { whatIsAbsent } from "../authz-spicedb.ts";
import { atMost, median, note } from "../verdict.ts";
import { accessToken } from "./people.ts";
import { type BenchReplicas, startReplicas } from "./replicas.ts";

const REVOCATIONS = 20;
/** In seconds, from the request that ends the session. */
const LIMIT = 1;
const LOOK_EVERY_MS = 2;
/** A token that counts for so long will not stop. */
const LONGEST_MS = 60_000;

/** Prints the median and the worst. */
export async function benchIamRevocation(): Promise<void> {
  const absent = whatIsAbsent();
  if (absent !== undefined) {
    process.stdout.write(`\niam-revocation: SKIPPED, ${absent}\n`);
    return;
  }
  process.stdout.write("\niam-revocation: seconds until an ended session is refused everywhere\n");
  const replicas = await startReplicas(REVOCATIONS);
  try {
    const times: Record<string, number[]> = {};
    for (let person = 0; person < REVOCATIONS; person++) {
      const taken = await revokeOnce(replicas, person);
      for (const [place, seconds] of Object.entries(taken)) {
        times[place] = [...(times[place] ?? []), seconds];
      }
    }
    for (const [place, seconds] of Object.entries(times)) {
      note(`${place}: median ${median(seconds).toFixed(3)} s`);
      atMost(`${place}: the worst of ${seconds.length}`, Math.max(...seconds), LIMIT);
    }
  } finally {
    await replicas.stop();
  }
}

/** Ends the session of a person by its own token. @returns the seconds until each place refuses the token */
async function revokeOnce({ first, others }: BenchReplicas, person: number) {
  const headers = { authorization: `Bearer ${await accessToken({ origin: first }, person)}` };
  const places = Object.entries(others);
  // The service has the keys, and all revocations so far.
  for (const [, origin] of places) await until(origin, headers, 200);
  const path = `${first}/v1/iam/me/sessions`;
  const listed = (await (await fetch(path, { headers })).json()) as {
    readonly sessions: readonly { readonly id: string; readonly current?: boolean }[];
  };
  const { id } = listed.sessions.find(({ current }) => current === true) ?? {};
  const begin = performance.now();
  const waiting = places.map(async ([place, origin]) => {
    await until(origin, headers, 401);
    return [place, (performance.now() - begin) / 1000] as const;
  });
  const { status } = await fetch(`${path}/${id}`, { method: "DELETE", headers });
  if (status !== 200) throw new Error(`the session was not ended: ${status}`);
  return Object.fromEntries(await Promise.all(waiting));
}

/** Asks who the caller is until the response has a status. */
async function until(origin: string, headers: Record<string, string>, wanted: number) {
  const end = performance.now() + LONGEST_MS;
  for (;;) {
    const response = await fetch(`${origin}/v1/iam/me`, { headers });
    await response.arrayBuffer();
    if (response.status === wanted) return;
    if (performance.now() > end) throw new Error(`${origin} still answers ${response.status}`);
    await sleep(LOOK_EVERY_MS);
  }
}

if (import.meta.main) await benchIamRevocation();
