/**
 * `GET /v1/iam/me` of svc-iam, with access tokens of its embedded provider, beside bare `node:http`
 * that sends the same bytes. `node bench/iam/me.ts` runs it alone.
 */
import { CONNECTIONS, loadHttp, wireRequest } from "../http-load.ts";
import { besidePinned } from "../pinning.ts";
import { startIam } from "./iam-service.ts";
import { startPeer } from "./peer-process.ts";
import type { FixedResponse } from "./peers.ts";
import { accessToken } from "./people.ts";
import { compareRates, type Side } from "./rounds.ts";

const ROUNDS = 21;
const ROUND_MS = 1_000;
const WARM_UP_MS = 4_000;
const LIMIT = 0.6;
const PATH = "/v1/iam/me";
/** What `node:http` sends by itself. */
const OF_THE_SERVER = new Set(["connection", "date", "keep-alive"]);

/** Prints the ratio. */
export async function benchIamMe(): Promise<void> {
  process.stdout.write("\niam-me: GET /v1/iam/me with access tokens\n");
  await besidePinned(compare);
}

async function compare(): Promise<void> {
  const iam = await startIam(CONNECTIONS);
  try {
    // A person for each connection.
    const requests: string[] = [];
    for (let person = 0; person < CONNECTIONS; person++) {
      requests.push(requestWith(await accessToken(iam, person)));
    }
    const peer = await startPeer("node:http", await responseTo(iam.port, requests[0] ?? ""));
    const load = (port: number, milliseconds = ROUND_MS) => loadHttp(port, requests, milliseconds);
    const own: Side = { pid: iam.pid, work: () => load(iam.port) };
    const other: Side = { pid: peer.child.pid, work: () => load(Number(peer.hello)) };
    try {
      await load(iam.port, WARM_UP_MS);
      await load(Number(peer.hello), WARM_UP_MS);
      await compareRates("GET /v1/iam/me / node:http", {
        own,
        peer: other,
        rounds: ROUNDS,
        limit: LIMIT,
      });
    } finally {
      peer.child.kill();
    }
  } finally {
    await iam.stop();
  }
}

function requestWith(token: string): string {
  return wireRequest(`GET ${PATH}`, {
    Host: "localhost",
    Accept: "application/json",
    "User-Agent": "bench",
    Authorization: `Bearer ${token}`,
  });
}

/** What svc-iam sends, for the peer to repeat. */
async function responseTo(port: number, request: string): Promise<FixedResponse> {
  const authorization = /^Authorization: (.*)\r$/m.exec(request)?.[1] ?? "";
  const response = await fetch(`http://127.0.0.1:${port}${PATH}`, { headers: { authorization } });
  const body = await response.text();
  if (response.status !== 200) throw new Error(`${PATH}: ${response.status} ${body}`);
  const headers = Object.fromEntries(
    [...response.headers].filter(([name]) => !OF_THE_SERVER.has(name)),
  );
  return { headers, body };
}

if (import.meta.main) await benchIamMe();
