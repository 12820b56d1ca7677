/** How connections end when a server drains, on both ports; only what waits for a client takes time. */
import { once } from "node:events";
import { constants } from "node:http2";
import { connect as connectTcp } from "node:net";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { PREFACE } from "../../../src/runtime/port/port.ts";
import type { TransportServer } from "../../../src/runtime/port/transport-server.ts";
import type { EchoHandlers } from "../grpc/support/echo-methods.ts";
import { startEchoServer } from "../grpc/support/echo-server.ts";
import { frame, rawCall, rawSession } from "../grpc/support/raw-call.ts";
import {
  END_HEADERS,
  END_STREAM,
  FRAME,
  headerBlock,
  RawHttp2,
  type ReceivedFrame,
  rawFrame,
} from "../hostile/support/raw-http2.ts";
import { startWebServer } from "../rpc-over-http/support/web-server.ts";

const ECHO = "/fixture.v1.EchoService/Echo";
const CALL = headerBlock([
  [":method", "POST"],
  [":scheme", "http"],
  [":path", ECHO],
  [":authority", "echo"],
  ["content-type", "application/grpc"],
]);
/** More than all of a drain takes that waits for no client, in milliseconds. */
const SOON = 500;
/** How long clients may take. */
const CLOSING_MS = 1000;

interface Running {
  readonly server: Pick<TransportServer, "drain">;
  readonly port: number;
  close(): Promise<void>;
}

const closing: (() => unknown)[] = [];
beforeEach(() => {
  vi.useFakeTimers({
    toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "performance"],
  });
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
  vi.useRealTimers();
});

/** Ends a server, and lets so much time pass. */
async function drain({ server }: Running, milliseconds: number): Promise<void> {
  const drained = server.drain();
  await vi.advanceTimersByTimeAsync(milliseconds);
  await drained;
}

/** A client that answers its settings, and nothing else. */
async function rawClient(port: number): Promise<RawHttp2> {
  const client = new RawHttp2(port);
  closing.push(() => client.end());
  await client.frame(({ type }) => type === FRAME.SETTINGS);
  await client.send(rawFrame(FRAME.SETTINGS, 1, 0));
  return client;
}

const isGoaway = ({ type }: ReceivedFrame) => type === FRAME.GOAWAY;

describe.each([
  ["gRPC", (handlers: EchoHandlers): Promise<Running> => startEchoServer({ handlers })],
  ["HTTP", (handlers: EchoHandlers): Promise<Running> => startWebServer({ handlers })],
])("the %s server", (_name, startServer) => {
  async function started(handlers: EchoHandlers = {}): Promise<Running> {
    const running = await startServer(handlers);
    closing.push(() => running.close());
    return running;
  }

  test("does not wait for HTTP/2 clients without a call", async () => {
    const running = await started();
    const idle = rawSession(running.port);
    await once(idle, "remoteSettings");
    const session = rawSession(running.port);
    expect((await rawCall(session, ECHO)).grpcStatus).toBe(0);
    await rawClient(running.port);
    await drain(running, SOON);
  });

  test("reports the last call", async () => {
    const running = await started();
    const client = await rawClient(running.port);
    await client.send(
      rawFrame(FRAME.HEADERS, END_HEADERS, 5, CALL),
      rawFrame(FRAME.DATA, END_STREAM, 5, frame(new Uint8Array())),
    );
    expect(await client.outcome(5)).toBe("answered");
    await drain(running, SOON);
    const goaway = await client.frame(isGoaway);
    expect(goaway?.payload.readUInt32BE(0)).toBe(5);
    expect(goaway?.payload.readUInt32BE(4)).toBe(constants.NGHTTP2_NO_ERROR);
  });

  test("waits for a call, but after its end not for the response to its ping", async () => {
    let release: (value: object) => void = () => undefined;
    let begun: () => void = () => undefined;
    const called = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const echo = () => {
      begun();
      return new Promise<object>((resolve) => {
        release = resolve;
      });
    };
    const running = await started({ echo });
    const client = await rawClient(running.port);
    await client.send(
      rawFrame(FRAME.HEADERS, END_HEADERS, 1, CALL),
      rawFrame(FRAME.DATA, END_STREAM, 1, frame(new Uint8Array())),
    );
    await called;
    const drained = running.server.drain();
    expect((await client.frame(isGoaway))?.payload.readUInt32BE(0)).toBe(2 ** 31 - 1);
    release({});
    await vi.advanceTimersByTimeAsync(SOON);
    await drained;
    expect(client.received.some(({ type, stream }) => type === FRAME.DATA && stream === 1)).toBe(
      true,
    );
  });

  test("disconnects a client that does not close the connection", async () => {
    const running = await started();
    const socket = connectTcp({ port: running.port, host: "127.0.0.1", allowHalfOpen: true });
    closing.push(() => socket.destroy());
    const settings = rawFrame(FRAME.SETTINGS, 0, 0);
    socket.on("error", () => undefined).write(Buffer.concat([PREFACE, settings]));
    await once(socket, "data");
    await drain(running, CLOSING_MS + SOON);
  });
});
