/** What health and reflection take of callers who prove nothing: time, number and answers have bounds. */
import { once } from "node:events";
import { type ClientHttp2Stream, connect, constants } from "node:http2";
import { fromBinary } from "@bufbuild/protobuf";
import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { afterEach, describe, expect, test, vi } from "vitest";
import { SkillService } from "../../../../examples/hub/gen/hub/skills/v1/skill_service_pb.ts";
import { ReflectionIndex } from "../../../../src/runtime/grpc/health-and-reflection/reflection-index.ts";
import { ReflectionAnswers } from "../../../../src/runtime/grpc/health-and-reflection/reflection-messages.ts";
import {
  type EchoServer,
  type EchoServerOptions,
  startEchoServer,
} from "../support/echo-server.ts";
import { frame, type RawAnswer, rawCall, rawSession } from "../support/raw-call.ts";

const CHECK = "/grpc.health.v1.Health/Check";
const WATCH = "/grpc.health.v1.Health/Watch";
const REFLECT = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";

const DEADLINE_EXCEEDED = 4;
const RESOURCE_EXHAUSTED = 8;

const opened: (() => unknown)[] = [];
afterEach(async () => {
  vi.useRealTimers();
  for (const close of opened.splice(0).reverse()) await close();
});

type Limits = NonNullable<NonNullable<EchoServerOptions["options"]>["builtIn"]>;

async function start(builtIn: Limits, isReady = () => true): Promise<EchoServer> {
  const echo = await startEchoServer({ options: { builtIn, isReady } });
  opened.push(() => echo.close());
  return echo;
}

function sessionTo(echo: EchoServer) {
  const session = rawSession(echo.port);
  opened.push(() => session.destroy());
  return session;
}

const text = (field: number, value: string) =>
  new BinaryWriter().tag(field, WireType.LengthDelimited).string(value).finish();

const HEADERS = { ":method": "POST", "content-type": "application/grpc", te: "trailers" };

/** A call whose request stays open, and the messages that have come. */
function openCall(session: ReturnType<typeof rawSession>, path: string) {
  const stream = session.request({ ...HEADERS, ":path": path });
  const messages: Buffer[] = [];
  let left = Buffer.alloc(0);
  stream
    .on("error", () => undefined)
    .on("data", (piece: Buffer) => {
      left = Buffer.concat([left, piece]);
      while (left.length >= 5 && left.length >= 5 + left.readUInt32BE(1)) {
        const end = 5 + left.readUInt32BE(1);
        messages.push(left.subarray(5, end));
        left = left.subarray(end);
      }
    });
  const ended = new Promise<number | undefined>((resolve) => {
    let status: unknown;
    stream.on("response", (headers) => {
      status = headers["grpc-status"];
    });
    stream.on("trailers", (headers) => {
      status = headers["grpc-status"];
    });
    stream.on("close", () => resolve(status === undefined ? undefined : Number(status)));
  });
  return { stream, messages, ended };
}

const ask = (stream: ClientHttp2Stream, query: Uint8Array) => stream.write(frame(query));

/** The paths of the files in an answer of reflection. */
function filesOf(answer: Uint8Array): string[] {
  const files: string[] = [];
  const reader = new BinaryReader(answer);
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (field !== 4) {
      reader.skip(type, field);
      continue;
    }
    const end = reader.uint32() + reader.pos;
    while (reader.pos < end) {
      reader.tag();
      files.push(fromBinary(FileDescriptorProtoSchema, reader.bytes()).name);
    }
  }
  return files;
}

describe("health watchers", () => {
  test("share one timer and one check of readiness", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval"] });
    let looks = 0;
    let ready = true;
    const echo = await start({ watchersOfConnection: 200 }, () => {
      looks++;
      return ready;
    });
    const session = sessionTo(echo);
    await rawCall(session, CHECK);
    const watch = () => {
      const call = openCall(session, WATCH);
      call.stream.end(frame(new Uint8Array()));
      return call;
    };
    const first = watch();
    await expect
      .poll(() => first.messages.length, { message: "the first Watch has a status" })
      .toBe(1);
    const timers = vi.getTimerCount();
    const calls = [first, ...Array.from({ length: 199 }, watch)];
    const reported = () =>
      calls.map(({ messages }) => messages.map((message) => message[1]).join());
    await expect
      .poll(() => reported().filter((each) => each === "1").length, {
        message: "every Watch has reported SERVING",
      })
      .toBe(200);
    // The first one starts their timer, and those of the connection.
    expect(vi.getTimerCount()).toBeLessThanOrEqual(timers);
    looks = 0;
    await vi.advanceTimersByTimeAsync(10_000);
    expect(looks).toBeLessThanOrEqual(20);
    ready = false;
    await vi.advanceTimersByTimeAsync(500);
    await expect
      .poll(() => reported().filter((each) => each === "1,2").length, {
        message: "every Watch has reported the change",
      })
      .toBe(200);
  });

  test("a new one during an unreported change gets the next change", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "setTimeout", "clearTimeout"] });
    let ready = true;
    const session = sessionTo(await start({}, () => ready));
    const watch = () => {
      const call = openCall(session, WATCH);
      call.stream.end(frame(new Uint8Array()));
      return () => call.messages.map((message) => message[1]);
    };
    const first = watch();
    await expect.poll(first, { message: "the first Watch has reported SERVING" }).toEqual([1]);
    ready = false;
    const second = watch();
    await expect
      .poll(second, { message: "the second Watch has reported NOT_SERVING" })
      .toEqual([2]);
    ready = true;
    await vi.advanceTimersByTimeAsync(1000);
    await expect
      .poll(second, { message: "the second Watch has reported the change" })
      .toEqual([2, 1]);
    expect(first().at(-1)).toBe(1);
  });

  test("are limited per connection and per process; the next one gets a free place", async () => {
    const echo = await start({ watchers: 4, watchersOfConnection: 3 });
    const [first, second] = [sessionTo(echo), sessionTo(echo)];
    const watch = async (session: typeof first) => {
      const { stream, ended } = openCall(session, WATCH);
      stream.end(frame(new Uint8Array()));
      const reported = new Promise<"reported">((resolve) =>
        stream.once("data", () => resolve("reported")),
      );
      return { stream, came: await Promise.race([ended, reported]) };
    };
    const [one, ...others] = [await watch(first), await watch(first), await watch(first)];
    expect([one, ...others].map(({ came }) => came)).toEqual(["reported", "reported", "reported"]);
    expect((await watch(first)).came).toBe(RESOURCE_EXHAUSTED);
    expect((await watch(second)).came).toBe("reported");
    expect((await watch(second)).came).toBe(RESOURCE_EXHAUSTED);
    // Those that are not let in hold no place, and health itself is open to all.
    expect(await rawCall(second, CHECK)).toMatchObject({ grpcStatus: 0 });
    one.stream.close();
    await expect
      .poll(async () => (await watch(second)).came, {
        message: "a Watch gets the place that is free",
      })
      .toBe("reported");
    first.destroy();
    await expect
      .poll(async () => (await watch(second)).came, {
        message: "a Watch gets the place that is free",
      })
      .toBe("reported");
  });

  test("end after the timeout of streams", async () => {
    const session = sessionTo(await start({ streamMs: 30 }));
    expect(await rawCall(session, WATCH)).toMatchObject({ grpcStatus: DEADLINE_EXCEEDED });
  });
});

describe("calls of built-in RPCs", () => {
  test.each([CHECK, WATCH, REFLECT])("%s: a request that does not arrive", async (path) => {
    const session = sessionTo(await start({ requestMs: 30 }));
    expect(await rawCall(session, path, {}, null)).toMatchObject({
      grpcStatus: DEADLINE_EXCEEDED,
    });
  });

  test.each([CHECK, WATCH, REFLECT])("%s: the deadline of the client", async (path) => {
    const session = sessionTo(await start({}));
    const call = (timeout: string) => rawCall(session, path, { "grpc-timeout": timeout }, null);
    expect(await call("soon")).toMatchObject({ grpcStatus: 3 });
    expect(await call("0m")).toMatchObject({ grpcStatus: DEADLINE_EXCEEDED });
    expect(await call("20m")).toMatchObject({ grpcStatus: DEADLINE_EXCEEDED });
  });

  test("many that wait for their request: the oldest end, and requests are answered", async () => {
    const session = sessionTo(await start({ silent: 3 }));
    const silent = (path: string) => rawCall(session, path, {}, null);
    const statuses: (number | undefined)[] = [];
    const waiting: Promise<RawAnswer>[] = [CHECK, WATCH, REFLECT, CHECK, CHECK].map(silent);
    for (const each of waiting) void each.then(({ grpcStatus }) => statuses.push(grpcStatus));
    await Promise.all(waiting.slice(0, 2));
    expect(statuses).toEqual([RESOURCE_EXHAUSTED, RESOURCE_EXHAUSTED]);
    expect(await rawCall(session, CHECK)).toMatchObject({ grpcStatus: 0 });
  });

  test("many concurrent calls with their requests are all answered", async () => {
    const session = sessionTo(await start({ silent: 3 }));
    const answers = Array.from({ length: 500 }, () => rawCall(session, CHECK));
    expect(new Set((await Promise.all(answers)).map(({ grpcStatus }) => grpcStatus))).toEqual(
      new Set([0]),
    );
  });
});

test("a connection with far too many calls gets a lower limit for a while", async () => {
  const session = sessionTo(await start({ watchersOfConnection: 1 }));
  const reported: (number | undefined)[] = [];
  session.on("remoteSettings", ({ maxConcurrentStreams }) => reported.push(maxConcurrentStreams));
  const watches = Array.from({ length: 900 }, () => openCall(session, WATCH).stream);
  await Promise.all(
    watches.map((stream) => {
      stream.end(frame(new Uint8Array()));
      return new Promise((resolve) => stream.once("close", resolve).once("data", resolve));
    }),
  );
  const refused = watches.filter(
    ({ rstCode }) => rstCode === constants.NGHTTP2_REFUSED_STREAM,
  ).length;
  // Node refuses those that came after, and whoever asks for something else is answered.
  expect(refused).toBeGreaterThan(200);
  expect(refused).toBeLessThan(900 - 500);
  expect(await rawCall(session, CHECK)).toMatchObject({ grpcStatus: 0 });
  await expect
    .poll(() => reported, { message: "the limit of calls returns to 1000" })
    .toEqual([1000, 128, 1000]);
});

describe("reflection", () => {
  test("whose client sends nothing more, reads nothing, or never ends", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    const echo = await start({ silenceMs: 30_000, reflectionMs: 300_000 });
    const list = text(7, "");
    const quiet = openCall(sessionTo(echo), REFLECT);
    ask(quiet.stream, list);
    await expect
      .poll(() => quiet.messages.length, { message: "the quiet Watch has a status" })
      .toBe(1);
    await vi.advanceTimersByTimeAsync(30_001);
    expect(await quiet.ended).toBe(DEADLINE_EXCEEDED);
    expect(quiet.messages).toHaveLength(1);

    const endless = openCall(sessionTo(echo), REFLECT);
    for (let asked = 1; asked <= 15; asked++) {
      ask(endless.stream, list);
      await expect
        .poll(() => endless.messages.length, {
          message: "the reflection has answered every request",
        })
        .toBe(asked);
      await vi.advanceTimersByTimeAsync(20_001);
    }
    expect(await endless.ended).toBe(DEADLINE_EXCEEDED);

    const session = connect(`http://127.0.0.1:${echo.port}`, {
      settings: { initialWindowSize: 0 },
    });
    opened.push(() => session.destroy());
    const stuck = openCall(session, REFLECT);
    const response = once(stuck.stream, "response");
    for (let count = 0; count < 200; count++) ask(stuck.stream, text(4, "fixture.v1.EchoService"));
    await response;
    let isEnded = false;
    void stuck.ended.then(() => {
      isEnded = true;
    });
    await expect
      .poll(
        async () => {
          await vi.advanceTimersByTimeAsync(10_000);
          return isEnded;
        },
        { message: "the connection of the silent client is ended" },
      )
      .toBe(true);
    expect(await stuck.ended).toBe(undefined);
    expect(stuck.stream.rstCode).toBe(8);
  });

  test("has a limited number of calls per connection", async () => {
    const session = sessionTo(await start({ reflectionsOfConnection: 1 }));
    const first = openCall(session, REFLECT);
    ask(first.stream, text(7, ""));
    await expect
      .poll(() => first.messages.length, { message: "the first Watch has a status" })
      .toBe(1);
    expect(await rawCall(session, REFLECT, {}, frame(text(7, "")))).toMatchObject({
      grpcStatus: RESOURCE_EXHAUSTED,
    });
    first.stream.end();
    expect(await first.ended).toBe(0);
    expect(await rawCall(session, REFLECT, {}, frame(text(7, "")))).toMatchObject({
      grpcStatus: 0,
    });
  });

  test("answers a limited number of calls at once: others wait until calls that read nothing end", async () => {
    const { port } = await start({ answersAtOnce: 1 });
    const settings = { initialWindowSize: 0 };
    const stuck = connect(`http://127.0.0.1:${port}`, { settings });
    const other = rawSession(port);
    opened.push(
      () => stuck.destroy(),
      () => other.destroy(),
    );
    const first = openCall(stuck, REFLECT);
    // More than is kept for a client that takes nothing.
    const query = frame(text(4, "fixture.v1.EchoService"));
    first.stream.write(Buffer.concat(Array.from({ length: 100 }, () => query)));
    await once(first.stream, "response");
    let isAnswered = false;
    const second = rawCall(other, REFLECT, {}, frame(text(7, "")));
    void second.then(() => {
      isAnswered = true;
    });
    await rawCall(other, CHECK);
    expect(isAnswered).toBe(false);
    first.stream.close();
    expect(await second).toMatchObject({ grpcStatus: 0 });
  });

  test("sends the imports of a file once per call, and the file itself each time", async () => {
    const call = openCall(sessionTo(await start({})), REFLECT);
    for (const query of [
      text(4, "fixture.v1.EchoService"),
      text(4, "fixture.v1.EchoRequest"),
      text(3, "svc/access/v1/policy.proto"),
      text(4, "grpc.health.v1.Health"),
    ]) {
      ask(call.stream, query);
    }
    call.stream.end();
    expect(await call.ended).toBe(0);
    const [first = [], ...others] = call.messages.map(filesOf);
    expect(first[0]).toBe("fixture/v1/fixture.proto");
    expect(first).toContain("svc/access/v1/policy.proto");
    expect(new Set(first).size).toBe(first.length);
    expect(others).toEqual([
      ["fixture/v1/fixture.proto"],
      ["svc/access/v1/policy.proto"],
      ["grpc/health/v1/health.proto"],
    ]);
  });

  test("sends at most 8 MiB to a call that repeats its request", async () => {
    const call = openCall(sessionTo(await start({})), REFLECT);
    let bytes = 0;
    call.stream.on("data", (piece: Buffer) => {
      bytes += piece.length;
    });
    const query = frame(text(3, "google/protobuf/descriptor.proto"));
    call.stream.end(Buffer.concat(Array.from({ length: 9000 }, () => query)));
    expect(await call.ended).toBe(RESOURCE_EXHAUSTED);
    expect(bytes).toBeLessThan(9 * 1024 * 1024);
  });

  test("answers a limited number of requests of a call", () => {
    const answers = new ReflectionAnswers(new ReflectionIndex([SkillService]));
    const query = text(4, "no.Symbol");
    for (let count = 0; count < 20_000; count++) answers.to(query);
    expect(() => answers.to(query)).toThrow("20000 requests");
  });
});
