/** Calls that are refused before their message is read do not affect their connection. */
import { connect } from "node:http2";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { frame } from "../grpc/support/raw-call.ts";
import { startWorld, type World } from "./support/world.ts";

const SERVICE = "/acme.vault.v1.VaultService";

let world: World;
beforeAll(async () => {
  world = await startWorld({ mode: "gateway_trusted" });
});
afterAll(() => world.stop());

const sockets = () =>
  process.getActiveResourcesInfo().filter((one) => one === "TCPSocketWrap").length;

const WAYS = [
  { title: "gRPC", port: "grpc", type: "application/grpc" },
  { title: "gRPC on the HTTP port", port: "http", type: "application/grpc" },
  { title: "Connect", port: "http", type: "application/proto" },
  { title: "streams of Connect", port: "http", type: "application/connect+proto" },
  { title: "gRPC-Web", port: "http", type: "application/grpc-web" },
  { title: "gRPC-Web text", port: "http", type: "application/grpc-web-text" },
] as const;
type Way = (typeof WAYS)[number];

async function callAndLeave(
  { port, type }: Way,
  path: string,
  headers: Record<string, string>,
): Promise<void> {
  const session = connect(`http://127.0.0.1:${world.port(port, "stranger")}`);
  session.on("error", () => undefined);
  await new Promise<void>((resolve) => {
    const stream = session.request({
      ":method": "POST",
      ":path": path,
      "content-type": type,
      ...headers,
    });
    stream.on("error", () => undefined);
    stream.once("response", () => resolve());
    stream.resume().end(frame(Buffer.alloc(100)));
  });
  session.destroy();
}

describe.each(WAYS)("by $title", (way) => {
  test.each<[string, string, Record<string, string>]>([
    ["without a caller", `${SERVICE}/GetProfile`, {}],
    ["with a stream", `${SERVICE}/Converse`, {}],
    ["of an unknown RPC", "/acme.vault.v1.None/None", {}],
    [
      "with a malformed deadline",
      `${SERVICE}/GetNotice`,
      { "grpc-timeout": "x", "connect-timeout-ms": "x" },
    ],
    [
      "with an unknown encoding",
      `${SERVICE}/GetNotice`,
      { "grpc-encoding": "zip", "connect-content-encoding": "zip", "content-encoding": "zip" },
    ],
    ["with an identity header in another spelling", `${SERVICE}/GetNotice`, { x_svc_user_id: "a" }],
  ])("a call %s does not keep its connection", async (_title, path, headers) => {
    const before = sockets();
    for (let count = 0; count < 5; count++) await callAndLeave(way, path, headers);
    await expect
      .poll(sockets, { message: "the server closes the sockets" })
      .toBeLessThanOrEqual(before);
  });
});
