/**
 * `CheckPermission` of svc-iam over gRPC, at a million relationships, beside a bare handler of grpc-js
 * that answers the same; and an authorized GET of the hub whose engine is svc-iam, beside the hub with
 * an engine of its own. `node bench/iam/check.ts` runs it alone.
 */
import { besidePinned } from "../pinning.ts";
import { CHECK_RPC, compareLatencies, loadChecks } from "./check-calls.ts";
import { compareHubs } from "./hub-engines.ts";
import { type BenchIam, startIam } from "./iam-service.ts";
import { startPeer } from "./peer-process.ts";
import { writePlatform } from "./platform-relationships.ts";
import { compareRates } from "./rounds.ts";

const ROUNDS = 21;
const ROUND_MS = 1_000;
const WARM_UP_MS = 4_000;
const RATE_LIMIT = 0.9;
const P50_LIMIT = 1.1;

/** Prints the ratios. */
export async function benchIamCheck(): Promise<void> {
  process.stdout.write("\niam-check: CheckPermission over gRPC, at a million relationships\n");
  await besidePinned(async () => {
    const iam = await startIam(0, writePlatform);
    try {
      await compareChecks(iam);
      await compareHubs(iam);
    } finally {
      await iam.stop();
    }
  });
}

async function compareChecks(iam: BenchIam): Promise<void> {
  const peer = await startPeer("grpc-js", CHECK_RPC);
  const port = Number(peer.hello);
  try {
    await loadChecks(iam.grpcPort, WARM_UP_MS);
    await loadChecks(port, WARM_UP_MS);
    await compareRates("CheckPermission / grpc-js", {
      own: { pid: iam.pid, work: () => loadChecks(iam.grpcPort, ROUND_MS) },
      peer: { pid: peer.child.pid, work: () => loadChecks(port, ROUND_MS) },
      rounds: ROUNDS,
      limit: RATE_LIMIT,
    });
    await compareLatencies(iam.grpcPort, port, P50_LIMIT);
  } finally {
    peer.child.kill();
  }
}

if (import.meta.main) await benchIamCheck();
