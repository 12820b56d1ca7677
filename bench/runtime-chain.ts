/**
 * What the chain itself costs a call, without a network: context, request info, metadata,
 * authentication by gateway headers, authorization by the embedded engine, metrics and access log.
 * `node bench/runtime-chain.ts` runs it alone.
 */
import { mkdtempSync, openSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { identificationStages } from "../src/runtime/authn/identification-stages.ts";
import { createAuthorization } from "../src/runtime/authorization/authorization-stage.ts";
import { bindServices } from "../src/runtime/binding/bind-services.ts";
import { Call } from "../src/runtime/call/call.ts";
import { HttpHeaders } from "../src/runtime/call/call-headers.ts";
import { requestIdOf } from "../src/runtime/call/call-ids.ts";
import { ServerChain } from "../src/runtime/chain/server-chain.ts";
import { createAuthorizationEngine } from "../src/runtime/index.ts";
import { createLogger } from "../src/runtime/logging/create-logger.ts";
import { createLineDestination } from "../src/runtime/logging/line-destination.ts";
import { AccessLog } from "../src/runtime/observers/access-log/access-log.ts";
import { createMetrics } from "../src/runtime/observers/metrics/metrics.ts";
import { createRateLimiter } from "../src/runtime/rate-limit/rate-limiter.ts";
import { GetDocumentRequestSchema } from "../test/runtime/fixture/gen/acme/vault/v1/vault_pb.ts";
import { bindVaultService } from "../test/runtime/fixture/gen/acme/vault/v1/vault_server.ts";
import { vaultHandlers } from "../test/runtime/support/vault-handlers.ts";
import { shareDocument, vaultConfiguration } from "../test/runtime/support/vault-server.ts";
import { MapPeer } from "./map-peer.ts";
import { atMost, median, note } from "./verdict.ts";

const CALLS = 50_000;
const ROUNDS = 9;
const CONCURRENCY = 16;
const TURN = 16;
/** Of random look-ups in a `Map` of a million strings. */
const LIMIT = 5;
const RPC = "acme.vault.v1.VaultService/GetDocument";
const HEADERS = [
  ["Host", "localhost"],
  ["Accept", "application/json"],
  ["User-Agent", "bench"],
  ["X-Svc-Auth-Verified", "true"],
  ["X-Svc-User-Id", "alice"],
].flat();

/** Prints the processor time of a call. */
export async function benchRuntimeChain(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "svc-access-bench-chain-"));
  const security = { authn: { gateway: { trusted_peers: ["127.0.0.1/32"] } } };
  const { config } = vaultConfiguration(folder, security, {});
  const engine = await createAuthorizationEngine(config);
  await shareDocument(engine);
  const { methods } = bindServices([bindVaultService(vaultHandlers())]);
  const method = methods.find(({ rpc }) => rpc === RPC);
  if (method === undefined) throw new Error(`there is no ${RPC}`);
  const destination = createLineDestination(openSync("/dev/null", "w"));
  const logger = createLogger({ service: "vault", destination });
  const { events, observer } = createMetrics({ process: false });
  const accessLog = new AccessLog(logger, { enabled: true, skipPaths: [], slowThresholdMs: 1000 });
  const parts = {
    ...identificationStages(config, { events, logger }),
    before: [],
    after: () => [],
    admission: [],
    timeoutMs: { unary: 5000, stream: 60_000 },
    rateLimit: createRateLimiter({ events }),
    authorization: createAuthorization({
      engine,
      enabled: true,
      devAllowAll: false,
      authnDisabled: false,
      events,
    }),
    audit: { begin() {}, complete() {}, outlast() {} },
  };
  const chains = {
    "the chain": new ServerChain({ ...parts, observers: [observer] }),
    "with its line in the access log": new ServerChain({
      ...parts,
      observers: [observer, accessLog],
    }),
  };
  const peer = { address: "127.0.0.1", certificateNames: [] };
  const request = create(GetDocumentRequestSchema, { documentId: "open" });
  const call = (chain: ServerChain) => {
    const headers = new HttpHeaders(HEADERS);
    return chain.run(
      new Call({
        method,
        transport: "http",
        requestId: requestIdOf(headers),
        headers,
        peer,
        target: "/v1/documents/open",
        httpMethod: "GET",
        readRequest: () => request,
      }),
    );
  };
  const map = await MapPeer.fill(async () => globalThis.gc?.());
  process.stdout.write("\nruntime-chain: a call from its headers to the handler's answer\n");
  for (const [what, chain] of Object.entries(chains)) {
    const rounds: (readonly [own: number, lookup: number])[] = [];
    for (let round = -2; round < ROUNDS; round++) {
      const cost = await measure(() => call(chain));
      const lookup = map.lookupUs(Math.random);
      if (round >= 0) rounds.push([cost, lookup]);
    }
    atMost(`${what} / a look-up in a Map`, median(rounds.map(([own, of]) => own / of)), LIMIT);
    note(`    ${median(rounds.map(([own]) => own)).toFixed(1)} us of processor time`);
  }
  await engine.close();
  rmSync(folder, { recursive: true, force: true });
}

/** Microseconds of processor time a call, with some calls under way at once. */
async function measure(call: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  let left = CALLS;
  const caller = async () => {
    while (left-- > 0) {
      await call();
      // As in a server, where few calls fall into a turn.
      if (left % TURN === 0) await new Promise((resolve) => setImmediate(resolve));
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, caller));
  const { user, system } = process.cpuUsage(before);
  return (user + system) / CALLS;
}

if (import.meta.main) await benchRuntimeChain();
