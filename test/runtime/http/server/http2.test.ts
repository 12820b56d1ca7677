/** The HTTP port over HTTP/2: the same answers as over HTTP/1.1, and gRPC. */
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import {
  type ClientHttp2Session,
  connect,
  constants,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
} from "node:http2";
import { connect as connectTcp } from "node:net";
import { create } from "@bufbuild/protobuf";
import { afterEach, describe, expect, test } from "vitest";
import type { RawHandler } from "../../../../src/runtime/http/raw/raw-handler.ts";
import { PREFACE } from "../../../../src/runtime/port/port.ts";
import { ThingSchema } from "../fixture/thing_pb.ts";
import {
  get,
  httpRoute,
  rawMethod,
  readAll,
  start,
  statusOf,
  stopAll,
  thingMethod,
} from "../support.ts";

const sessions: ClientHttp2Session[] = [];
afterEach(async () => {
  for (const session of sessions.splice(0)) session.destroy();
  await stopAll();
});

interface Answer {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly rstCode: number | undefined;
}

function open(origin: string): ClientHttp2Session {
  const session = connect(origin);
  session.on("error", () => undefined);
  sessions.push(session);
  return session;
}

/** Sends a request and waits for its stream to close. */
async function ask(
  session: ClientHttp2Session,
  headers: OutgoingHttpHeaders,
  body?: string | Buffer,
): Promise<Answer> {
  const stream = session.request(headers, { endStream: body === undefined });
  let answered: IncomingHttpHeaders = {};
  let text = "";
  stream.on("response", (given) => {
    answered = given;
  });
  stream.on("data", (chunk) => {
    text += chunk;
  });
  stream.on("error", () => undefined);
  if (body !== undefined) stream.end(body);
  await once(stream, "close");
  return { headers: answered, body: text, rstCode: stream.rstCode };
}

function deferred<Value>() {
  let resolve: (value: Value) => void = () => undefined;
  const promise = new Promise<Value>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

const getThing = thingMethod(
  "getThing",
  [httpRoute("GET /v1/things/{name}")],
  async (request) => request,
);
const putThing = thingMethod(
  "putThing",
  [httpRoute("PUT /v1/things", { body: "*" })],
  async (request) => request,
);

describe("requests that cannot be served", () => {
  test.each([
    {
      name: "no such path",
      headers: { ":path": "/nothing" },
      status: 404,
      code: "RESOURCE_NOT_FOUND",
    },
    {
      name: "another method",
      headers: { ":path": "/v1/things/a", ":method": "DELETE" },
      status: 405,
      code: "METHOD_NOT_ALLOWED",
    },
    {
      name: "a body of another type",
      headers: { ":path": "/v1/things", ":method": "PUT", "content-type": "text/plain" },
      body: "x",
      status: 415,
      code: "UNSUPPORTED_MEDIA_TYPE",
    },
    {
      name: "a body that is too large",
      headers: { ":path": "/v1/things", ":method": "PUT", "content-type": "application/json" },
      body: "x".repeat(100_000),
      status: 413,
      code: "PAYLOAD_TOO_LARGE",
    },
    {
      name: "a host that is none",
      headers: { ":path": "/v1/things/a", ":authority": "a:b" },
      status: 400,
      code: "INVALID_ARGUMENT",
    },
    {
      name: "another host beside the authority",
      headers: { ":path": "/v1/things/a", ":authority": "a", host: "b" },
      status: 400,
      code: "INVALID_ARGUMENT",
    },
    {
      name: "another expectation",
      headers: { ":path": "/v1/things/a", expect: "200-ok" },
      status: 417,
      code: "EXPECTATION_FAILED",
    },
  ])("$name", async ({ headers, body, status, code }) => {
    const { origin } = await start({ methods: [getThing, putThing] });
    const answer = await ask(open(origin), headers, body);
    expect(answer.headers[":status"]).toBe(status);
    expect(JSON.parse(answer.body)).toMatchObject({ status, code });
    expect(answer.headers["x-request-id"]).toMatch(/^[\w-]+$/);
    expect(answer.headers["connection"]).toBeUndefined();
  });

  test("CONNECT", async () => {
    const { origin } = await start({ methods: [getThing] });
    const answer = await ask(open(origin), { ":method": "CONNECT", ":authority": "x:1" }, "");
    expect(answer.headers[":status"]).toBeGreaterThanOrEqual(400);
  });

  test("gRPC, if it is not served on this port", async () => {
    const { origin } = await start({ methods: [getThing] });
    const headers = {
      ":method": "POST",
      ":path": "/fixture.v1.X/Y",
      "content-type": "application/grpc",
    };
    expect((await ask(open(origin), headers, "")).headers[":status"]).toBe(404);
  });
});

describe("calls [TRANS-2]", () => {
  test("with path, query and body, many at once on one connection", async () => {
    const { origin } = await start({ methods: [getThing, putThing] });
    const session = open(origin);
    const answers = await Promise.all([
      ...Array.from({ length: 200 }, (_, index) =>
        ask(session, { ":path": `/v1/things/thing-${index}` }),
      ),
      ask(
        session,
        { ":path": "/v1/things", ":method": "PUT", "content-type": "application/json" },
        JSON.stringify({ thing: { name: "put" } }),
      ),
    ]);
    for (const { headers, rstCode } of answers) {
      expect(headers[":status"]).toBe(200);
      expect(rstCode).toBe(constants.NGHTTP2_NO_ERROR);
    }
    expect(JSON.parse(answers[7]?.body ?? "")).toMatchObject({ name: "thing-7" });
    expect(JSON.parse(answers[200]?.body ?? "")).toMatchObject({ thing: { name: "put" } });
  });

  test("by HEAD, and preflights", async () => {
    const cors = { allowed_origins: ["https://a.example"], max_age_seconds: 60 };
    const { origin } = await start({ methods: [getThing], config: { cors } });
    const session = open(origin);
    const preflight = await ask(session, {
      ":method": "OPTIONS",
      ":path": "/v1/things/a",
      origin: "https://a.example",
      "access-control-request-method": "GET",
    });
    expect(preflight.headers).toMatchObject({
      ":status": 204,
      "access-control-allow-origin": "https://a.example",
    });
    const options = await ask(session, { ":method": "OPTIONS", ":path": "/v1/things/a" });
    expect(options.headers).toMatchObject({ ":status": 204 });
  });

  test("whose client resets the stream abort, and the connection continues", async () => {
    const begun = deferred<void>();
    const aborted = deferred<void>();
    const slow = thingMethod("getThing", [httpRoute("GET /slow")], async (_request, { signal }) => {
      signal.addEventListener("abort", () => aborted.resolve());
      begun.resolve();
      await aborted.promise;
      return create(ThingSchema, {});
    });
    const { origin } = await start({ methods: [slow, putThing] });
    const session = open(origin);
    const stream = session.request({ ":path": "/slow" });
    stream.on("error", () => undefined);
    await begun.promise;
    stream.close(constants.NGHTTP2_CANCEL);
    await aborted.promise;
    expect((await ask(session, { ":path": "/nothing" })).headers[":status"]).toBe(404);
  });

  test("of streams have a line for each message", async () => {
    const watch = thingMethod("watchThings", [httpRoute("GET /watch")], async function* () {
      yield create(ThingSchema, { name: "a" });
      yield create(ThingSchema, { name: "b" });
    });
    const { origin } = await start({ methods: [watch] });
    const { headers, body } = await ask(open(origin), { ":path": "/watch" });
    expect(headers["content-type"]).toBe("application/x-ndjson");
    expect(body.trim().split("\n")).toHaveLength(2);
  });
});

const RAW = {
  path: "/raw",
  match: "exact",
  methods: ["GET", "POST"],
  exposure: "PUBLIC",
} as const;

describe("raw handlers", () => {
  test("answer with what they return, cookies one by one", async () => {
    const raw = rawMethod(RAW, async (request) => ({
      status: 201,
      headers: { "set-cookie": ["a=1", "b=2"], "x-query": request.query.get("q") ?? "" },
      body: await request.body(),
    }));
    const { origin } = await start({ rawMethods: [raw] });
    const headers = { ":method": "POST", ":path": "/raw?q=1" };
    const answer = await ask(open(origin), headers, "hello");
    expect(answer).toMatchObject({ body: "hello" });
    expect(answer.headers).toMatchObject({
      ":status": 201,
      "set-cookie": ["a=1", "b=2"],
      "x-query": "1",
    });
  });

  test("write to Node's response, and see Node's request", async () => {
    const raw = rawMethod(RAW, ({ incoming, response }) => {
      const { method, url, rawHeaders, headersDistinct } = incoming;
      response.statusCode = 202;
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ method, url, rawHeaders, headersDistinct }));
      return undefined;
    });
    const { origin } = await start({ rawMethods: [raw] });
    const answer = await ask(open(origin), { ":path": "/raw?q", "x-own": "1" });
    expect(answer.headers).toMatchObject({ ":status": 202 });
    expect(JSON.parse(answer.body)).toMatchObject({
      method: "GET",
      url: "/raw?q",
      headersDistinct: { "x-own": ["1"] },
    });
  });
});

test.each<[string, unknown]>([
  ["an object", { "x-a": ["1", "2"] }],
  ["a list", ["x-a", "1", "x-a", "2"]],
  [
    "a list of pairs",
    [
      ["x-a", "1"],
      ["x-a", "2"],
    ],
  ],
])("raw handlers may write headers as %s", async (_, headers) => {
  const handle: RawHandler["handle"] = ({ response }) => {
    response.writeHead(201, headers as never).end();
    return undefined;
  };
  const { origin } = await start({ rawMethods: [rawMethod(RAW, handle)] });
  const answer = await ask(open(origin), { ":path": "/raw" });
  expect([answer.headers[":status"], answer.headers["x-a"]]).toEqual([201, "1, 2"]);
});

describe("headers of raw handlers that are too large", () => {
  const LARGE = "v".repeat(70_000);
  const MANY = Array.from({ length: 9_000 }, () => "");
  const end = (response: ServerResponse, begin: () => void): undefined => {
    begin();
    response.end();
  };

  test.each<[string, RawHandler["handle"]]>([
    ["returned", () => ({ status: 200, headers: { "x-large": LARGE } })],
    [
      "returned, larger than over HTTP/1.1",
      () => ({ status: 200, headers: { x: "v".repeat(17_000) } }),
    ],
    ["returned, very many", () => ({ status: 200, headers: { a: MANY } })],
    [
      "appended, very many",
      (_request, context) => {
        for (const value of MANY) context.appendResponseHeader("a", value);
        return { status: 200 };
      },
    ],
    ["set", ({ response }) => end(response, () => response.setHeader("x-large", LARGE))],
    ["set, very many", ({ response }) => end(response, () => response.setHeader("a", MANY))],
    [
      "written",
      ({ response }) => end(response, () => response.writeHead(200, { "x-large": LARGE })),
    ],
    [
      "written as a list",
      ({ response }) => end(response, () => response.writeHead(200, ["x-large", LARGE])),
    ],
    [
      "set, before others are written as a list",
      ({ response }) =>
        end(response, () => {
          response.setHeader("x-large", LARGE);
          response.writeHead(200, ["x-a", "b"]);
        }),
    ],
  ])("%s are INTERNAL, and cost no other call its connection", async (_, handle) => {
    const held = deferred<void>();
    const slow = thingMethod("getThing", [httpRoute("GET /slow")], async () => {
      await held.promise;
      return {};
    });
    const { origin } = await start({ methods: [slow], rawMethods: [rawMethod(RAW, handle)] });
    const session = open(origin);
    const other = ask(session, { ":path": "/slow" });
    const { headers, body, rstCode } = await ask(session, { ":path": "/raw" });
    expect([headers[":status"], rstCode]).toEqual([500, 0]);
    expect(JSON.parse(body)).toMatchObject({ code: "INTERNAL" });
    held.resolve();
    expect((await other).headers[":status"]).toBe(200);
    expect((await ask(session, { ":path": "/slow" })).headers[":status"]).toBe(200);
  });

  test("that just fit arrive", async () => {
    const handle: RawHandler["handle"] = ({ response }) => {
      response.writeHead(200, { "x-large": "v".repeat(59_000), a: MANY.slice(0, 80) }).end();
      return undefined;
    };
    const { origin } = await start({ rawMethods: [rawMethod(RAW, handle)] });
    const session = open(origin);
    expect((await ask(session, { ":path": "/raw" })).headers["x-large"]).toHaveLength(59_000);
    expect((await ask(session, { ":path": "/raw" })).headers["x-large"]).toHaveLength(59_000);
  });
});

describe("the first bytes", () => {
  test.each([1, 3, 23])("may arrive in pieces of %d bytes", async (size) => {
    const { port } = await start({ methods: [getThing] });
    const socket = connectTcp(port, "127.0.0.1");
    socket.setNoDelay(true);
    const heard = once(socket, "data");
    for (let at = 0; at < PREFACE.length; at += size) {
      socket.write(PREFACE.subarray(at, at + size));
      await new Promise((resolve) => setImmediate(resolve));
    }
    // An empty SETTINGS frame; the answer is one, too.
    socket.write(Buffer.from("000000040000000000", "hex"));
    const [chunk] = (await heard) as [Buffer];
    expect(chunk[3]).toBe(4);
    socket.destroy();
  });

  test("that only resemble HTTP/2 are HTTP/1.1", async () => {
    const { port } = await start({ methods: [getThing] });
    const propfind = connectTcp(port, "127.0.0.1");
    propfind.write("PR");
    await new Promise((resolve) => setImmediate(resolve));
    propfind.write("OPFIND /v1/things/a HTTP/1.1\r\nHost: x\r\n\r\n");
    expect(statusOf(await readAll(propfind))).toBe(405);
    const broken = connectTcp(port, "127.0.0.1");
    broken.write("PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n");
    expect(statusOf(await readAll(broken))).toBe(400);
  });

  test("may be those of several requests", async () => {
    const { port } = await start({ methods: [getThing] });
    const socket = connectTcp(port, "127.0.0.1");
    socket.write(get("/v1/things/a") + get("/v1/things/b", "Connection: close"));
    expect((await readAll(socket)).match(/HTTP\/1\.1 200/g)).toHaveLength(2);
  });
});

describe("the end", () => {
  test("waits for running calls, and accepts no more", async () => {
    const begun = deferred<void>();
    const go = deferred<void>();
    const slow = thingMethod("getThing", [httpRoute("GET /slow")], async (request) => {
      begun.resolve();
      await go.promise;
      return request;
    });
    const { origin, server } = await start({ methods: [slow] });
    const session = open(origin);
    const goaway = once(session, "goaway");
    const idle = open(origin);
    await once(idle, "remoteSettings");
    const answer = ask(session, { ":path": "/slow" });
    await begun.promise;
    const drained = server.drain();
    await goaway;
    await once(idle, "close");
    go.resolve();
    expect((await answer).headers[":status"]).toBe(200);
    await drained;
  });

  test("without waiting aborts calls", async () => {
    const begun = deferred<AbortSignal>();
    const slow = thingMethod("getThing", [httpRoute("GET /slow")], (_request, { signal }) => {
      begun.resolve(signal);
      return new Promise(() => undefined);
    });
    const { origin, server } = await start({ methods: [slow] });
    const answer = ask(open(origin), { ":path": "/slow" });
    const signal = await begun.promise;
    await server.close();
    await answer;
    await expect
      .poll(() => signal.aborted, { message: "the signal of the call is aborted" })
      .toBe(true);
  });
});
