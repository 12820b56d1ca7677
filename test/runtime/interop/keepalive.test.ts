/** How often the typed client sends keepalive pings, which third-party servers limit. */
import { createServer, type Http2Server } from "node:http2";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, test, vi } from "vitest";
import { createGrpcClient, type ServiceClient } from "../../../src/runtime/index.ts";
import { TestService } from "./gen/grpc/testing/test_pb.ts";
import { endless } from "./support/endless.ts";
import { grpcGoIsAbsent, startGoServer } from "./support/grpc-go.ts";

type Client = ServiceClient<typeof TestService>;

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const closing: (() => unknown)[] = [];
afterEach(async () => {
  vi.useRealTimers();
  for (const close of closing.splice(0).reverse()) await close();
});

/** A server that accepts calls, answers none, and counts keepalive pings. */
async function silentServer() {
  const seen = { calls: 0, pings: 0 };
  const server: Http2Server = createServer();
  server.on("session", (session) => {
    closing.push(() => session.destroy());
    session.on("error", () => undefined);
    session.on("ping", () => seen.pings++);
  });
  server.on("stream", (stream) => {
    stream.on("error", () => undefined);
    seen.calls++;
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(() => server.close());
  return { seen, target: `127.0.0.1:${(server.address() as AddressInfo).port}` };
}

const timeoutMs = 600 * MINUTE;
const read = async (responses: AsyncIterable<unknown>) => {
  for await (const _ of responses);
};
const KINDS = [
  {
    kind: "a unary call",
    call: (client: Client) => client.unaryCall({}, { timeoutMs }),
    every: 30 * SECOND,
  },
  {
    kind: "a stream of responses",
    call: (client: Client) => read(client.streamingOutputCall({}, { timeoutMs })),
    every: 5.5 * MINUTE,
  },
  {
    kind: "a stream of requests",
    call: (client: Client) => client.streamingInputCall(endless(), { timeoutMs }),
    every: 5.5 * MINUTE,
  },
  {
    kind: "streams both ways",
    call: (client: Client) => read(client.fullDuplexCall(endless(), { timeoutMs })),
    every: 5.5 * MINUTE,
  },
];

describe("while nothing is sent, the client sends keepalive pings", () => {
  test.each(KINDS)("during $kind every $every ms", async ({ call, every }) => {
    const { seen, target } = await silentServer();
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const client = createGrpcClient(TestService, { target, retry: false });
    closing.push(() => client.close());
    const ended = call(client).catch(() => undefined);
    closing.push(() => ended);
    const turnUntil = async (done: () => boolean) => {
      const limit = performance.now() + 20 * SECOND;
      while (!done()) {
        if (performance.now() > limit) throw new Error("the server was not reached");
        await vi.advanceTimersByTimeAsync(0);
        await new Promise((resolve) => setImmediate(resolve));
      }
    };
    await turnUntil(() => seen.calls === 1);
    await vi.advanceTimersByTimeAsync(every - SECOND);
    const before = seen.pings;
    await vi.advanceTimersByTimeAsync(2 * SECOND);
    await turnUntil(() => seen.pings > 0);
    expect([before, seen.pings]).toEqual([0, 1]);
  });
});

describe.skipIf(grpcGoIsAbsent())("grpc-go's server", () => {
  test("ends an idle stream with more frequent pings, so these need an option", async () => {
    const server = await startGoServer();
    closing.push(() => server.stop());
    const client = createGrpcClient(TestService, {
      target: `127.0.0.1:${server.port}`,
      keepaliveMs: 50,
    });
    closing.push(() => client.close());
    await expect(read(client.fullDuplexCall(endless()))).rejects.toMatchObject({
      cause: { details: expect.stringMatching(/exhausted/) },
    });
  });
});
