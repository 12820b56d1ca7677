/** Calls with malformed headers are in the log and the metrics, over each protocol. */
import { request } from "node:http";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { frame, rawCall, rawSession } from "../grpc/support/raw-call.ts";
import { type RunningVault, startVault } from "../support/vault-server.ts";

const RPC = "acme.vault.v1.VaultService/GetNotice";
const STREAM = "acme.vault.v1.VaultService/WatchDocument";

let vault: RunningVault;
beforeAll(async () => {
  vault = await startVault();
});
afterAll(() => vault.stop());
beforeEach(() => {
  vault.lines.length = 0;
});

type Headers = Readonly<Record<string, string | readonly string[]>>;

const connect = { "content-type": "application/proto" };
const connectStream = { "content-type": "application/connect+proto" };
const web = { "content-type": "application/grpc-web+proto" };

function post(rpc: string, headers: Headers): Promise<void> {
  return new Promise((resolve, reject) => {
    const options = { port: vault.http, path: `/${rpc}`, method: "POST", agent: false };
    const asked = request({ ...options, headers: headers as never }, (response) => {
      response.resume().once("end", resolve);
    });
    asked.once("error", reject).end();
  });
}

async function callByGrpc(port: number, headers: Headers): Promise<void> {
  const session = rawSession(port);
  const answer = await rawCall(session, `/${RPC}`, headers as never, frame(new Uint8Array()));
  expect(answer.grpcStatus).toBeGreaterThan(0);
  session.destroy();
}

async function counted(transport: string, rpc: string, code: string): Promise<number> {
  const metrics = await (await fetch(`http://127.0.0.1:${vault.metrics}/metrics`)).text();
  const labels = `{rpc="${rpc}",transport="${transport}",code="${code}"}`;
  const [, value = "0"] = metrics.split(`rpc_server_requests_total${labels} `);
  return Number.parseFloat(value);
}

const byConnect = (headers: Headers) => () => post(RPC, { ...connect, ...headers });
const byStream = (headers: Headers) => () => post(STREAM, { ...connectStream, ...headers });
const byWeb = (headers: Headers) => () => post(RPC, { ...web, ...headers });
const byGrpc = (headers: Headers) => () => callByGrpc(vault.grpc, headers);
const byGrpcOnHttp = (headers: Headers) => () => callByGrpc(vault.http, headers);

test.each<[string, string, string, () => Promise<void>, rpc?: string]>([
  ["a timeout", "connect", "INVALID_ARGUMENT", byConnect({ "connect-timeout-ms": "soon" })],
  ["two timeouts", "connect", "INVALID_ARGUMENT", byConnect({ "connect-timeout-ms": ["1", "2"] })],
  ["a version", "connect", "INVALID_ARGUMENT", byConnect({ "connect-protocol-version": "2" })],
  ["a compression", "connect", "UNIMPLEMENTED", byConnect({ "content-encoding": "br" })],
  [
    "a timeout of a stream",
    "connect",
    "INVALID_ARGUMENT",
    byStream({ "connect-timeout-ms": "-1" }),
    STREAM,
  ],
  [
    "a version of a stream",
    "connect",
    "INVALID_ARGUMENT",
    byStream({ "connect-protocol-version": "2" }),
    STREAM,
  ],
  [
    "a compression of a stream",
    "connect",
    "UNIMPLEMENTED",
    byStream({ "connect-content-encoding": "br" }),
    STREAM,
  ],
  ["a timeout", "grpc_web", "INVALID_ARGUMENT", byWeb({ "grpc-timeout": "soon" })],
  ["a compression", "grpc_web", "UNIMPLEMENTED", byWeb({ "grpc-encoding": "br" })],
  ["a timeout", "grpc", "INVALID_ARGUMENT", byGrpc({ "grpc-timeout": "soon" })],
  ["a compression", "grpc", "UNIMPLEMENTED", byGrpc({ "grpc-encoding": "br" })],
  [
    "a timeout on the HTTP port",
    "grpc",
    "INVALID_ARGUMENT",
    byGrpcOnHttp({ "grpc-timeout": "soon" }),
  ],
])("%s that is unreadable, by %s: %s", async (_name, transport, code, call, rpc = RPC) => {
  const before = await counted(transport, rpc, code);
  await call();
  expect(await counted(transport, rpc, code)).toBe(before + 1);
  await expect
    .poll(() => vault.lines.filter((line) => line.includes(`"${rpc}"`)), {
      message: "the log has a line of the request",
    })
    .toHaveLength(1);
  const [line = "{}"] = vault.lines.filter((one) => one.includes(`"${rpc}"`));
  expect(JSON.parse(line)).toMatchObject({ rpc, transport, code });
});
