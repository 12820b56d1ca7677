/** Streams of many small messages, whose handler is never asynchronous. */
import { connect } from "node:http2";
import { connect as connectSocket } from "node:net";
import { create, toBinary } from "@bufbuild/protobuf";
import { afterAll, beforeAll, expect, test } from "vitest";
import { WatchDocumentRequestSchema } from "../fixture/gen/acme/vault/v1/vault_pb.ts";
import { bindVaultService } from "../fixture/gen/acme/vault/v1/vault_server.ts";
import { frame } from "../grpc/support/raw-call.ts";
import { vaultHandlers } from "../support/vault-handlers.ts";
import { type RunningVault, shareDocument, startVault } from "../support/vault-server.ts";

/** Far more than the messages that are sent before other calls are served. */
const MANY = 1_000;
const ALICE = { "x-svc-auth-verified": "true", "x-svc-user-id": "alice" };

let vault: RunningVault;
/** The maximum number of messages of each stream in one turn of the event loop. */
let most = 0;
beforeAll(async () => {
  const handlers = vaultHandlers();
  vault = await startVault({
    bindings: [
      bindVaultService({
        ...handlers,
        async *watchDocument() {
          let inTurn = 0;
          for (let index = 0; index < 10 * MANY; index++) {
            if (inTurn++ === 0) setImmediate(() => (inTurn = 0));
            most = Math.max(most, inTurn);
            yield { echo: "x" };
          }
        },
      }),
    ],
  });
  await shareDocument(vault.engine);
});
afterAll(() => vault.stop());

test.each([
  ["gRPC", "grpc", "application/grpc"],
  ["gRPC on the HTTP port", "http", "application/grpc"],
  ["Connect", "http", "application/connect+proto"],
  ["gRPC-Web", "http", "application/grpc-web+proto"],
  ["gRPC-Web text", "http", "application/grpc-web-text"],
] as const)(
  "40 an unread stream of %s buffers few messages, and does not block other calls",
  async (_title, port, type) => {
    most = 0;
    const settings = { initialWindowSize: 0 };
    const session = connect(`http://127.0.0.1:${vault[port]}`, { settings });
    const stream = session.request({
      ":method": "POST",
      ":path": "/acme.vault.v1.VaultService/WatchDocument",
      "content-type": type,
      ...ALICE,
    });
    stream.on("error", () => undefined);
    const request = create(WatchDocumentRequestSchema, { documentId: "open", count: 1 });
    const body = frame(toBinary(WatchDocumentRequestSchema, request));
    stream.end(type === "application/grpc-web-text" ? body.toString("base64") : body);
    await new Promise((resolve) => stream.once("response", resolve));
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThan(MANY);
    session.destroy();
  },
);

test("40 an HTTP stream does not block other calls between its messages", async () => {
  most = 0;
  const socket = connectSocket(vault.http, "127.0.0.1");
  const fields = Object.entries(ALICE).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(
    `GET /v1/documents/open:watch HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${fields.join("")}\r\n`,
  );
  await new Promise((resolve) => socket.resume().once("close", resolve));
  expect(most).toBeGreaterThan(0);
  expect(most).toBeLessThan(MANY / 2);
});
