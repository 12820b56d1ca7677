/** What a peer says is shown to nobody by /readyz: the reason is in own words. */
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http2";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openIamEngine } from "../../../services/iam/test/support/permissions.ts";

const MODEL = new URL("../../../model/iam.zed", import.meta.url).pathname;
const SAID = "user postgres@10.0.0.7 has the password hunter2";

/** The address of a gRPC server that answers each call with a status and a text. */
async function serverThatSays(grpcStatus: number, text: string): Promise<string> {
  const server = createServer();
  server.on("stream", (stream) => {
    stream.respond(
      {
        ":status": 200,
        "content-type": "application/grpc",
        "grpc-status": String(grpcStatus),
        "grpc-message": encodeURIComponent(text),
      },
      { endStream: true },
    );
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test.each([
  ["PERMISSION_DENIED", 7, "refuses this service: check its entry in iam.services of IAM"],
  ["RESOURCE_EXHAUSTED", 8, "takes no more now: it is overloaded"],
  ["UNAUTHENTICATED", 16, "does not accept the internal token of this service"],
  ["UNAVAILABLE", 14, "cannot answer now"],
  ["INTERNAL", 13, "fails (INTERNAL)"],
])("the text of %s", async (_, grpcStatus, why) => {
  const target = await serverThatSays(grpcStatus, SAID);
  const folder = mkdtempSync(join(tmpdir(), "svc-access-foreign-text-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const token = "a-token-that-is-long-enough-for-all";
  const engine = await openIamEngine({ target, token, model: MODEL, folder });
  onTestFinished(() => engine.close());
  const { ready, reason = "" } = await engine.ready();
  expect([ready, reason]).toEqual([false, expect.stringContaining(`IAM at ${target} ${why}`)]);
  expect(reason).not.toMatch(/hunter2|postgres/);
});
