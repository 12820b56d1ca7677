import { once } from "node:events";
import { connect, constants } from "node:http2";
import { setImmediate as nextTurn } from "node:timers/promises";
import { create, toBinary } from "@bufbuild/protobuf";
import { afterEach, expect, test, vi } from "vitest";
import { EchoRequestSchema } from "./fixture/gen/fixture/v1/fixture_pb.ts";
import { frame } from "./support/raw-call.ts";

const LINGER_MS = 30_000;

afterEach(() => {
  vi.useRealTimers();
});

test("a client that never reads a small response does not keep the call open forever", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  // Other files leave the clock of what lingers with a timer that is not fake.
  vi.resetModules();
  const { startEchoServer } = await import("./support/echo-server.ts");
  const echo = await startEchoServer();
  // A window of nothing: the headers come, the message cannot.
  const session = connect(`http://127.0.0.1:${echo.port}`, { settings: { initialWindowSize: 0 } });
  const stream = session.request({
    ":method": "POST",
    ":path": "/fixture.v1.EchoService/Echo",
    "content-type": "application/grpc",
    te: "trailers",
  });
  const closed = once(stream, "close").catch(() => undefined);
  stream.end(frame(toBinary(EchoRequestSchema, create(EchoRequestSchema, { text: "hello" }))));
  const [headers] = await once(stream, "response");
  expect(headers[":status"]).toBe(200);

  await vi.advanceTimersByTimeAsync(LINGER_MS - 1000);
  for (let turn = 0; turn < 100; turn++) await nextTurn();
  expect(stream.closed).toBe(false);

  await vi.advanceTimersByTimeAsync(2000);
  await closed;
  expect(stream.rstCode).toBe(constants.NGHTTP2_CANCEL);
  session.destroy();
  await vi.advanceTimersByTimeAsync(10);
  vi.useRealTimers();
  await echo.close();
});
