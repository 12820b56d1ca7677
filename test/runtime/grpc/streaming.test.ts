import { randomBytes } from "node:crypto";
import { constants } from "node:http2";
import { setTimeout as sleep } from "node:timers/promises";
import { create, toBinary } from "@bufbuild/protobuf";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { CallContext } from "../../../src/runtime/call/call-context.ts";
import type { ServiceClient } from "../../../src/runtime/client/call/typed-client.ts";
import { createGrpcClient } from "../../../src/runtime/client/grpc/grpc-client.ts";
import { ServiceError } from "../../../src/runtime/error/service-error.ts";
import { untilStill } from "../../support/until.ts";
import {
  type EchoRequest,
  EchoRequestSchema,
  EchoService,
} from "./fixture/gen/fixture/v1/fixture_pb.ts";
import { type EchoServer, startEchoServer } from "./support/echo-server.ts";
import { frame, rawCall, rawSession } from "./support/raw-call.ts";

let echo: EchoServer;
let client: ServiceClient<typeof EchoService>;
/** What the handlers saw of the end of the last call. */
let seen: { produced: number; received: number; reason: unknown; left: boolean };

/** Random, so that compression does not make it small. */
const big = new Uint8Array(randomBytes(64 * 1024));

beforeAll(async () => {
  echo = await startEchoServer({
    handlers: {
      echo: async (request: EchoRequest, { signal }: CallContext) => {
        if (request.text !== "wait") return { text: request.text };
        seen.received++;
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        seen.reason = signal.reason;
        return {};
      },
      expand: async function* (request: EchoRequest, { signal }: CallContext) {
        try {
          for (let count = 0; count < request.count; count++) {
            if (request.text === "fail" && count === 3)
              throw new ServiceError("FORBIDDEN", "no more");
            if (request.text === "crash" && count === 3) throw new Error("secret");
            if (request.text === "wait") await sleep(20);
            seen.produced++;
            yield { count, data: request.text === "big" ? big : new Uint8Array() };
          }
        } finally {
          seen.left = true;
          seen.reason = signal.aborted ? signal.reason : undefined;
        }
      },
      chat: async function* (requests: AsyncIterable<EchoRequest>) {
        for await (const request of requests) {
          seen.received++;
          if (request.text === "stop") return;
          if (request.text === "fail") throw new ServiceError("FORBIDDEN");
          if (request.text === "hold") await sleep(200);
          yield { text: request.text };
        }
      },
    },
  });
  client = createGrpcClient(EchoService, { target: echo.target });
});
afterAll(async () => {
  await client.close();
  await echo.close();
});
beforeEach(() => {
  seen = { produced: 0, received: 0, reason: undefined, left: false };
});

async function* requests(...texts: string[]) {
  for (const text of texts) yield { text };
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

describe("errors in streams", () => {
  test("messages before it arrive", async () => {
    const counts: number[] = [];
    const read = async () => {
      for await (const { count } of client.expand({ text: "fail", count: 9 })) counts.push(count);
    };
    await expect(read()).rejects.toMatchObject({
      code: "FORBIDDEN",
      message: "no more",
      status: 403,
    });
    expect(counts).toEqual([0, 1, 2]);
  });

  test("an error of the handler reveals nothing", async () => {
    const error = await all(client.expand({ text: "crash", count: 9 })).catch((thrown) => thrown);
    expect(error).toMatchObject({ code: "INTERNAL", message: "internal error" });
    expect(JSON.stringify(error)).not.toContain("secret");
  });

  test("an error of the request stream is the caller's", async () => {
    const broken = async function* () {
      yield { text: "a" };
      throw new RangeError("mine");
    };
    await expect(client.collect(broken())).rejects.toThrow(RangeError);
    await expect(all(client.chat(broken()))).rejects.toThrow("mine");
  });
});

describe("the end of a call", () => {
  test("a client that ends a stream ends the handler", async () => {
    for await (const { count } of client.expand({ text: "wait", count: 1e6 }))
      if (count === 2) break;
    await expect.poll(() => seen.left, { message: "the handler leaves the stream" }).toBe(true);
    expect(seen.reason).toMatchObject({ code: "CANCELLED" });
    expect(seen.produced).toBeLessThan(10);
  });

  test("a client that cancels ends the handler", async () => {
    const abort = new AbortController();
    const call = client.echo({ text: "wait" }, { signal: abort.signal });
    await expect.poll(() => seen.received, { message: "the handler receives the request" }).toBe(1);
    abort.abort();
    await expect(call).rejects.toMatchObject({ code: "CANCELLED" });
    await expect
      .poll(() => seen.reason, { message: "the signal of the handler has its reason" })
      .toMatchObject({ code: "CANCELLED" });
  });

  test("the deadline of the client applies", async () => {
    const session = rawSession(echo.port);
    const body = frame(toBinary(EchoRequestSchema, create(EchoRequestSchema, { text: "wait" })));
    const headers = { "grpc-timeout": "80m" };
    const answer = await rawCall(session, "/fixture.v1.EchoService/Echo", headers, body);
    expect(answer).toMatchObject({ grpcStatus: 4, reason: "DEADLINE_EXCEEDED" });
    expect(seen.reason).toMatchObject({ code: "DEADLINE_EXCEEDED" });
    session.destroy();
  });

  test("a handler that returns early ends the call, even if the client still sends", async () => {
    const endless = async function* () {
      yield { text: "one" };
      yield { text: "stop" };
      await new Promise(() => undefined);
    };
    expect((await all(client.chat(endless()))).map(({ text }) => text)).toEqual(["one"]);
  });

  test("a lost connection cancels the call", async () => {
    const session = rawSession(echo.port);
    const body = frame(toBinary(EchoRequestSchema, create(EchoRequestSchema, { text: "wait" })));
    void rawCall(session, "/fixture.v1.EchoService/Echo", {}, body);
    await expect.poll(() => seen.received, { message: "the handler receives the request" }).toBe(1);
    session.destroy();
    await expect
      .poll(() => seen.reason, { message: "the signal of the handler has its reason" })
      .toMatchObject({ code: "CANCELLED" });
  });
});

describe("backpressure", () => {
  test("a client that does not read stops the handler", async () => {
    const stream = client.expand({ text: "big", count: 1000 })[Symbol.asyncIterator]();
    await stream.next();
    await untilStill("the number of messages", () => seen.produced);
    expect(seen.produced).toBeLessThan(200);
    await stream.return?.();
    await expect.poll(() => seen.left, { message: "the handler leaves the stream" }).toBe(true);
  });

  test("a refused message ends the stream, even if the client still sends", async () => {
    const session = rawSession(echo.port);
    const stream = session.request({
      ":method": "POST",
      ":path": "/fixture.v1.EchoService/Chat",
      "content-type": "application/grpc",
    });
    stream.on("error", () => undefined).resume();
    const closed = new Promise((resolve) => stream.once("close", resolve));
    const flood = setInterval(() => stream.write(frame(new Uint8Array(), 0, 0xffff_ffff)), 5);
    await closed;
    clearInterval(flood);
    session.destroy();
  });

  test("an error after unread messages arrives, although the handler still reads", async () => {
    const texts = Array.from({ length: 8 }, () => "x".repeat(10_000));
    const heard: string[] = [];
    const talk = async () => {
      const requests = (async function* () {
        for (const text of texts) yield { text };
        yield { text: "fail" };
        await new Promise(() => undefined);
      })();
      for await (const { text } of client.chat(requests)) heard.push(text);
    };
    await expect(talk()).rejects.toMatchObject({ code: "FORBIDDEN" });
    expect(heard).toEqual(texts);
  });

  test("40: a flood of requests waits for the handler", async () => {
    const session = rawSession(echo.port);
    const stream = session.request({
      ":method": "POST",
      ":path": "/fixture.v1.EchoService/Chat",
      "content-type": "application/grpc",
    });
    stream.on("error", () => undefined);
    const hold = toBinary(
      EchoRequestSchema,
      create(EchoRequestSchema, { text: "hold", data: big }),
    );
    let accepted = 0;
    for (let count = 0; count < 200; count++) stream.write(frame(hold), () => accepted++);
    await untilStill("the number of accepted requests", () => accepted);
    expect(seen.received).toBeLessThan(4);
    // What was not read stays with the client: the windows of HTTP/2 hold it back.
    expect(accepted).toBeLessThan(30);
    stream.close(constants.NGHTTP2_CANCEL);
    session.destroy();
  });
});

describe("all kinds", () => {
  test("unary", async () =>
    expect(await client.echo({ text: "hi" })).toMatchObject({ text: "hi" }));

  test("server streaming", async () => {
    const counts = (await all(client.expand({ count: 5 }))).map(({ count }) => count);
    expect(counts).toEqual([0, 1, 2, 3, 4]);
  });

  test("server streaming without a message", async () =>
    expect(await all(client.expand({ count: 0 }))).toEqual([]));

  test("client streaming", async () =>
    expect(await client.collect(requests("a", "b", "c"))).toMatchObject({ text: "abc", count: 3 }));

  test("client streaming without a message", async () =>
    expect(await client.collect(requests())).toMatchObject({ count: 0 }));

  test("bidirectional, in turn", async () => {
    const inbox: string[] = ["a"];
    let wake = () => {};
    const talk = async function* () {
      for (;;) {
        while (inbox.length === 0) await new Promise<void>((resolve) => (wake = resolve));
        const text = inbox.shift() as string;
        if (text.length > 4) return;
        yield { text };
      }
    };
    const heard: string[] = [];
    for await (const { text } of client.chat(talk())) {
      heard.push(text);
      inbox.push(`${text}a`);
      wake();
    }
    expect(heard).toEqual(["a", "aa", "aaa", "aaaa"]);
  });

  test("large messages", async () => {
    const data = new Uint8Array(900 * 1024).fill(7);
    expect((await client.collect(requests("x"))).text).toBe("x");
    const [first] = await all(client.expand({ text: "big", count: 1, data }));
    expect(first?.data).toEqual(big);
  });
});

describe("a client that reads nothing", () => {
  test("does not hold the call beyond its deadline", async () => {
    const session = rawSession(echo.port);
    const stream = session.request({
      ":method": "POST",
      ":path": "/fixture.v1.EchoService/Expand",
      "content-type": "application/grpc",
      "grpc-timeout": "300m",
    });
    const request = create(EchoRequestSchema, { text: "big", count: 1000 });
    const closed = new Promise((resolve) => stream.once("close", resolve));
    stream.end(frame(toBinary(EchoRequestSchema, request)));
    stream.pause();
    await expect.poll(() => seen.left, { message: "the handler leaves the stream" }).toBe(true);
    expect(seen.reason).toMatchObject({ code: "DEADLINE_EXCEEDED" });
    stream.resume();
    await closed;
    expect(stream.rstCode).toBe(constants.NGHTTP2_CANCEL);
    session.destroy();
  });
});
