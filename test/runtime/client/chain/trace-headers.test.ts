import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createGrpcClient, type InterceptedCall } from "../../../../src/runtime/index.ts";
import { VaultService } from "../../fixture/gen/acme/vault/v1/vault_pb.ts";
import { bindVaultService } from "../../fixture/gen/acme/vault/v1/vault_server.ts";
import { vaultHandlers } from "../../support/vault-handlers.ts";
import { type RunningVault, startVault } from "../../support/vault-server.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const SPAN = "b7ad6b7169203331";

let far: RunningVault;
let near: RunningVault;
let client: ReturnType<typeof createGrpcClient<typeof VaultService>>;
let seen: InterceptedCall["headers"][] = [];

beforeAll(async () => {
  far = await startVault({
    before: [(call, next) => (seen.push(call.headers), next())],
  });
  client = createGrpcClient(VaultService, { target: `127.0.0.1:${far.grpc}` });
  near = await startVault({
    bindings: [
      bindVaultService({
        ...vaultHandlers(),
        getNotice: async ({ noticeId }, context) => client.getNotice({ noticeId }, { context }),
      }),
    ],
  });
});
beforeEach(() => {
  seen = [];
});
afterAll(async () => {
  await client.close();
  await near.stop();
  await far.stop();
});

const call = async (headers: Record<string, string>) => {
  const response = await fetch(`http://127.0.0.1:${near.http}/v1/notices/n`, { headers });
  expect(response.status).toBe(200);
  return (name: string) => seen[0]?.all(name) ?? [];
};

test.each(["01", "00"])(
  "a service without its own spans passes on the caller's, flags %s",
  async (flags) => {
    const traceparent = `00-${TRACE}-${SPAN}-${flags}`;
    const header = await call({ traceparent, tracestate: "vendor=1,other=2" });
    expect(header("traceparent")).toEqual([traceparent]);
    expect(header("tracestate")).toEqual(["vendor=1,other=2"]);
  },
);

test.each([
  ["none", {}],
  ["a malformed one", { traceparent: "00-x-01", tracestate: "vendor=1" }],
])("with %s it begins a trace, which its log has, without anybody's state", async (_, headers) => {
  near.lines.length = 0;
  const header = await call(headers);
  const [traceparent = ""] = header("traceparent");
  const [, traceId = "none"] = /^00-([0-9a-f]{32})-[0-9a-f]{16}-00$/.exec(traceparent) ?? [];
  expect(traceId).not.toBe(TRACE);
  expect(near.lines.join("")).toContain(`"trace_id":"${traceId}"`);
  expect(header("tracestate")).toEqual([]);
});

test("a trace state that is too long is omitted", async () => {
  const traceparent = `00-${TRACE}-${SPAN}-01`;
  const header = await call({ traceparent, tracestate: `a=${"x".repeat(600)}` });
  expect(header("traceparent")).toEqual([traceparent]);
  expect(header("tracestate")).toEqual([]);
});
