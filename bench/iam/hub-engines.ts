/** An authorized GET of the hub whose engine is svc-iam, beside the hub with an engine of its own. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadHttp, wireRequest } from "../http-load.ts";
import { HUB_SECRETS, type StartedService, startService } from "../service-start.ts";
import { type BenchIam, HUB_TOKEN } from "./iam-service.ts";
import { compareRates, type Side } from "./rounds.ts";

const ROUNDS = 21;
const ROUND_MS = 1_000;
const WARM_UP_MS = 4_000;

const HUB_MAIN = join(import.meta.dirname, "../../examples/hub/src/hub/main.ts");
const ALICE = { "x-svc-external-sub": "alice", "x-svc-external-owner": "acme" };

/** The cost of asking another process, which has no limit of its own. */
export async function compareHubs(iam: BenchIam): Promise<void> {
  const asking = {
    AUTHZ_PROVIDER: "iam",
    IAM_ADDRESS: `127.0.0.1:${iam.grpcPort}`,
    IAM_TOKEN: HUB_TOKEN,
  };
  const hubs = await Promise.all([startHub(asking), startHub({ AUTHZ_PROVIDER: "embedded" })]);
  try {
    const [own, peer] = await Promise.all(hubs.map(sideOf));
    if (own === undefined || peer === undefined) return;
    await compareRates("GET of the hub, engine iam / embedded", { own, peer, rounds: ROUNDS });
  } finally {
    await Promise.all(hubs.map((hub) => hub.stop()));
  }
}

async function startHub(env: Readonly<Record<string, string>>): Promise<StartedService> {
  const data = mkdtempSync(join(tmpdir(), "svc-access-bench-hub-"));
  const service = await startService({
    args: [HUB_MAIN],
    env: { ...HUB_SECRETS, DATA: data, ...env },
  });
  const stop = async () => {
    await service.stop();
    rmSync(data, { recursive: true, force: true });
  };
  return { ...service, stop };
}

/** Reads a project again and again, which is authorized each time. */
async function sideOf({ port, pid }: StartedService): Promise<Side> {
  const headers = { ...ALICE, "content-type": "application/json" };
  const body = JSON.stringify({ organizationId: "acme", displayName: "Measured" });
  const url = `http://127.0.0.1:${port}/v1/projects`;
  const created = await fetch(url, { method: "POST", headers, body });
  const text = await created.text();
  if (created.status !== 200) throw new Error(`a project was not created: ${text}`);
  const { projectId } = JSON.parse(text).project ?? JSON.parse(text);
  const request = wireRequest(`GET /v1/projects/${projectId}`, {
    Host: "localhost",
    "User-Agent": "bench",
    ...ALICE,
  });
  const work = (milliseconds = ROUND_MS) => loadHttp(port, request, milliseconds);
  await work(WARM_UP_MS);
  return { pid, work: () => work() };
}
