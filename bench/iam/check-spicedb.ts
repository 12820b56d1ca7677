/**
 * `CheckPermission` of svc-iam with its embedded engine, beside the same load on a real SpiceDB on PostgreSQL with the
 * same million relationships; skipped, and named, if there is none. svc-iam has one processor, and SpiceDB and
 * PostgreSQL have all of them. `node bench/iam/check-spicedb.ts` runs it alone.
 */
import { createGrpcClient } from "svc-access/runtime";
import { IAMPermissionService } from "../../services/iam/gen/svc/iam/v1/permission_pb.ts";
import { whatIsAbsent } from "../authz-spicedb.ts";
import { besidePinned } from "../pinning.ts";
import { atLeast, atMost, median, note } from "../verdict.ts";
import { checkMessage, loadChecks } from "./check-calls.ts";
import { type BenchIam, HUB_TOKEN, startIam } from "./iam-service.ts";
import { checkAt, writePlatform } from "./platform-relationships.ts";
import { type SpicedbPlatform, startSpicedbPlatform } from "./spicedb-platform.ts";

const ROUNDS = 7;
const ROUND_MS = { own: 1_000, peer: 4_000 } as const;
const WARM_UP_MS = { own: 4_000, peer: 8_000 } as const;
/** How many times as many checks. */
const LIMIT = 100;
/** As many different ones that the caches of a round cannot answer them. */
const CHECKS = Array.from({ length: 20_000 }, (_, index) => checkAt(index));
const MESSAGES = CHECKS.map(checkMessage);
/** How many of them both are asked for, to compare their decisions. */
const COMPARED = 200;

/** Prints the ratio. */
export async function benchIamCheckSpicedb(): Promise<void> {
  const absent = whatIsAbsent();
  if (absent !== undefined) {
    process.stdout.write(`\niam-check-spicedb: SKIPPED, ${absent}\n`);
    return;
  }
  process.stdout.write("\niam-check-spicedb: checks over gRPC, at a million relationships\n");
  const begin = performance.now();
  const spicedb = await startSpicedbPlatform();
  note(`SpiceDB has them after ${((performance.now() - begin) / 1000).toFixed(0)} s`);
  try {
    await besidePinned(async () => {
      const iam = await startIam(0, writePlatform);
      try {
        await compareDecisions(iam, spicedb);
        await compareLoads(iam, spicedb);
      } finally {
        await iam.stop();
      }
    });
  } finally {
    await spicedb.stop();
  }
}

/** A quick decision that is wrong is worth nothing. */
async function compareDecisions(iam: BenchIam, spicedb: SpicedbPlatform): Promise<void> {
  const target = `127.0.0.1:${iam.grpcPort}`;
  const client = createGrpcClient(IAMPermissionService, { target, internalToken: HUB_TOKEN });
  let [allowed, differing] = [0, 0];
  try {
    for (const check of CHECKS.slice(0, COMPARED)) {
      const [ours, theirs] = [await client.checkPermission(check), await spicedb.allows(check)];
      if (ours.allowed) allowed++;
      if (ours.allowed !== theirs) differing++;
    }
  } finally {
    await client.close();
  }
  note(`of ${COMPARED} checks, ${allowed} are allowed`);
  atMost("decisions that differ", differing, 0);
}

async function compareLoads(iam: BenchIam, spicedb: SpicedbPlatform): Promise<void> {
  const own = (milliseconds: number) => loadChecks(iam.grpcPort, milliseconds, MESSAGES);
  const peer = (milliseconds: number) => spicedb.load(milliseconds, CHECKS);
  await own(WARM_UP_MS.own);
  await peer(WARM_UP_MS.peer);
  const pairs: { readonly own: number; readonly peer: number }[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    // Who comes first changes, so that a load from elsewhere falls on both.
    const first = round % 2 === 0 ? await rateOf(peer, ROUND_MS.peer) : undefined;
    const ours = await rateOf(own, ROUND_MS.own);
    pairs.push({ own: ours, peer: first ?? (await rateOf(peer, ROUND_MS.peer)) });
  }
  const ratio = median(pairs.map(({ own, peer }) => own / peer));
  atLeast("CheckPermission / SpiceDB on PostgreSQL", ratio, LIMIT);
  const rate = (side: "own" | "peer") => median(pairs.map((pair) => pair[side])).toFixed(0);
  note(`  our own: ${rate("own")} a second, the peer: ${rate("peer")} a second`);
}

async function rateOf(
  load: (milliseconds: number) => Promise<number>,
  milliseconds: number,
): Promise<number> {
  const begin = performance.now();
  const count = await load(milliseconds);
  return (1000 * count) / (performance.now() - begin);
}

if (import.meta.main) await benchIamCheckSpicedb();
