import { connect } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import type { Call } from "../../../../src/runtime/call/call.ts";
import type { CallContext } from "../../../../src/runtime/call/call-context.ts";
import { ServiceError } from "../../../../src/runtime/error/service-error.ts";
import { alternativeNames } from "../../../../src/runtime/peer/peer.ts";
import type { Thing } from "../fixture/thing_pb.ts";
import {
  errorOf,
  get,
  httpRoute,
  openChain,
  PUBLIC,
  rawMethod,
  readAll,
  sendRaw,
  start,
  statusOf,
  stopAll,
  thingMethod,
} from "../support.ts";

afterEach(stopAll);

const GET_THING = [httpRoute("GET /v1/things/{name}"), httpRoute("POST /v1/things", { body: "*" })];

describe("methods", () => {
  const methods = [thingMethod("getThing", GET_THING, async (thing: Thing) => thing)];

  it.each(["BREW", "CONNECT"])("does not start with %s, which Node cannot parse", (method) => {
    const route = httpRoute(`${method} /v1/things/{name}`);
    const started = start({ methods: [thingMethod("getThing", [route], async () => ({}))] });
    return expect(started).rejects.toThrow(`cannot read requests with that method`);
  });

  it("answers HEAD as GET, without the body", async () => {
    const { port } = await start({ methods });
    const [head, full] = await Promise.all(
      ["HEAD", "GET"].map((method) =>
        sendRaw(port, `${method} /v1/things/a HTTP/1.1\r\nHost: x\r\n\r\n`),
      ),
    );
    expect(head).toMatch(/\r\n\r\n$/);
    const length = /Content-Length: (\d+)/.exec(full as string)?.[1];
    expect(head).toContain(`Content-Length: ${length}`);
  });

  it.each([
    ["OPTIONS", "/v1/things/a", 204, "GET, HEAD, OPTIONS"],
    ["OPTIONS", "/v1/things", 204, "POST, OPTIONS"],
    ["OPTIONS", "*", 204, "GET, HEAD, POST, OPTIONS"],
    ["OPTIONS", "/healthz", 204, "GET, HEAD, OPTIONS"],
    ["DELETE", "/v1/things/a", 405, "GET, HEAD, OPTIONS"],
    ["PROPFIND", "/v1/things/a", 405, "GET, HEAD, OPTIONS"],
    ["POST", "/healthz", 405, "GET, HEAD, OPTIONS"],
  ])("%s %s is %i, and lists what is allowed", async (method, target, status, allow) => {
    const probes = [{ path: "/healthz", handle: () => ({ status: 200, body: {} }) }];
    const { port, unrouted } = await start({ methods, probes });
    const response = await sendRaw(port, `${method} ${target} HTTP/1.1\r\nHost: x\r\n\r\n`);
    expect(statusOf(response)).toBe(status);
    expect(response).toContain(`\r\nAllow: ${allow}\r\n`);
    expect(unrouted).toMatchObject([{ httpMethod: method, target, status }]);
  });

  it("logs requests that are not a call, without their query", async () => {
    const { origin, unrouted } = await start({ methods });
    await fetch(`${origin}/nope?token=secret`);
    expect(unrouted).toMatchObject([
      {
        httpMethod: "GET",
        target: "/nope",
        status: 404,
        code: "RESOURCE_NOT_FOUND",
        peer: { address: "127.0.0.1" },
      },
    ]);
  });
});

describe("calls", () => {
  it("have their peer, target and headers, and each occurrence of a header", async () => {
    let seen: Call | undefined;
    const { port } = await start({
      chain: openChain({ requestInfo: (call) => void (seen = call) }),
      methods: [thingMethod("getThing", GET_THING, async () => ({}))],
    });
    await sendRaw(
      port,
      get("/v1/things/a?small=1", "X-A: 1", "x-a: 2", "Authorization: a", "Authorization: b"),
    );
    expect(seen).toMatchObject({ target: "/v1/things/a", httpMethod: "GET", transport: "http" });
    expect(seen?.headers.all("x-a")).toEqual(["1", "2"]);
    expect(seen?.headers.all("authorization")).toEqual(["a", "b"]);
    expect(new Set(seen?.headers.names())).toEqual(new Set(["host", "x-a", "authorization"]));
    expect(seen?.peer).toEqual({ address: "127.0.0.1", certificateNames: [] });
    expect(seen?.responseBytes).toBeGreaterThan(2);
  });

  it("with authentication have responses that are not cacheable; headers of the handler are sent, but not those of the server", async () => {
    const handler = async (_request: Thing, context: CallContext) => {
      context.setResponseHeader("X-Extra", "1");
      context.setResponseHeader("Content-Length", "1");
      context.setResponseHeader("Vary", "Accept");
      return {};
    };
    const policy = { ...PUBLIC, exposure: "AUTHENTICATED" } as const;
    const cors = { allowed_origins: ["https://a.b"], max_age_seconds: 1 };
    const { origin } = await start({
      config: { cors },
      methods: [thingMethod("getThing", GET_THING, handler, policy)],
    });
    const response = await fetch(`${origin}/v1/things/a`);
    expect((await response.json()) as object).toHaveProperty("name", "");
    expect(response.headers.get("x-extra")).toBe("1");
    expect(response.headers.get("cache-control")).toBe("no-store");
    expect(response.headers.get("vary")).toBe("Accept, Origin");
  });

  it("have each value that the handler appends as a separate header, and no trailers", async () => {
    const handler = async (_request: Thing, context: CallContext) => {
      context.setResponseHeader("Set-Cookie", "a=1");
      context.appendResponseHeader("set-cookie", "b=2");
      context.appendResponseTrailer("x-trailer", "1");
      return {};
    };
    const { port } = await start({ methods: [thingMethod("getThing", GET_THING, handler)] });
    const response = await sendRaw(port, get("/v1/things/a"));
    expect(response.match(/^set-cookie: .*$/gim)).toEqual(["set-cookie: a=1", "set-cookie: b=2"]);
    expect(response).not.toContain("x-trailer");
  });

  it("end when the client disconnects", async () => {
    let reason: unknown;
    let isBegun = false;
    const { port, server } = await start({
      methods: [
        thingMethod("getThing", GET_THING, (_request: Thing, { signal }: CallContext) => {
          isBegun = true;
          return new Promise((_resolve, reject) => {
            signal.addEventListener("abort", () => {
              reason = signal.reason;
              reject(signal.reason);
            });
          });
        }),
      ],
    });
    const socket = connect(port, "127.0.0.1");
    socket.write(get("/v1/things/a"));
    await expect.poll(() => isBegun, { message: "the stream begins" }).toBe(true);
    socket.destroy();
    await server.drain();
    expect(reason).toMatchObject({ code: "CANCELLED" });
  });

  it("are 504 after their deadline, also while the body arrives", async () => {
    const { port } = await start({
      chain: openChain({ timeoutMs: { unary: 100, stream: 100 } }),
      methods: [thingMethod("getThing", GET_THING, async () => ({}))],
    });
    const headers = "Content-Type: application/json\r\nContent-Length: 20\r\n";
    const response = await sendRaw(
      port,
      `POST /v1/things HTTP/1.1\r\nHost: x\r\n${headers}\r\n{`,
      500,
    );
    expect(errorOf(response)).toMatchObject({ status: 504, code: "DEADLINE_EXCEEDED" });
  });

  it.each(["sendThings", "swapThings"] as const)("%s takes a stream, and is 501", async (name) => {
    const { origin } = await start({
      methods: [thingMethod(name, [httpRoute("POST /v1/send", { body: "*" })], () => undefined)],
    });
    const response = await fetch(`${origin}/v1/send`, { method: "POST" });
    expect(await response.json()).toMatchObject({ status: 501, code: "UNIMPLEMENTED" });
  });
});

describe("raw handlers", () => {
  it("get requests below their prefix that no narrower route serves", async () => {
    const path = {
      path: "/v1/things",
      match: "prefix",
      methods: ["*"],
      exposure: "PUBLIC",
    } as const;
    const { origin } = await start({
      methods: [thingMethod("getThing", GET_THING, async () => ({}))],
      rawMethods: [
        rawMethod(path, async (request) => ({
          status: 201,
          headers: {
            "content-type": "text/plain",
            "set-cookie": ["a=1", "b=2"],
            "content-length": "9",
          },
          body: `${request.method} ${request.path} ${request.query.get("q")} ${Buffer.from(await request.body()).toString()}`,
        })),
      ],
    });
    const response = await fetch(`${origin}/v1/things/a?q=1`, { method: "PUT", body: "hello" });
    expect(await response.text()).toBe("PUT /v1/things/a 1 hello");
    expect(response.status).toBe(201);
    expect(response.headers.getSetCookie()).toEqual(["a=1", "b=2"]);
    expect(response.headers.get("x-request-id")).toMatch(/./);
    expect((await fetch(`${origin}/v1/things/a/b`)).status).toBe(201);
    expect((await fetch(`${origin}/v1/things/a`)).status).toBe(200);
  });

  const EXACT = {
    path: "/raw",
    match: "exact",
    methods: ["GET", "POST"],
    exposure: "PUBLIC",
  } as const;

  it("may write to the response themselves; a handler that does nothing is an error", async () => {
    const { origin, faults } = await start({
      rawMethods: [
        rawMethod(EXACT, ({ response, query }) => {
          if (query.has("write")) response.end("written");
          return undefined;
        }),
      ],
    });
    const response = await fetch(`${origin}/raw?write`);
    expect(await response.text()).toBe("written");
    expect(response.headers.get("x-content-type-options")).toBe("nosniff");
    expect((await fetch(`${origin}/raw`)).status).toBe(500);
    expect(faults).toHaveLength(1);
  });

  it("get an error for a body that is too large", async () => {
    const { origin } = await start({
      config: { max_body_bytes: 3 },
      rawMethods: [
        rawMethod(EXACT, async (request) => ({ status: 200, body: await request.body() })),
      ],
    });
    const response = await fetch(`${origin}/raw`, { method: "POST", body: "1234" });
    expect(response.status).toBe(413);
  });

  it("go through the chain", async () => {
    const { origin } = await start({
      chain: openChain({
        authentication() {
          throw new ServiceError("UNAUTHORIZED");
        },
      }),
      rawMethods: [rawMethod(EXACT, () => ({ status: 200 }))],
    });
    expect((await fetch(`${origin}/raw`)).status).toBe(401);
  });
});

describe("a server", () => {
  it("reports that its address is in use", async () => {
    const { port } = await start({});
    await expect(start({ config: { address: `127.0.0.1:${port}` } })).rejects.toThrow(
      `HTTP cannot listen on 127.0.0.1:${port} (server.http.address): the address is in use`,
    );
  });

  it("answers probes without the chain [OBS-1]", async () => {
    const { origin } = await start({
      chain: openChain({
        contextInjection() {
          throw new Error("not for probes");
        },
      }),
      probes: [
        { path: "/readyz", handle: async () => ({ status: 503, body: { status: "not_ready" } }) },
      ],
    });
    const response = await fetch(`${origin}/readyz`);
    expect([response.status, await response.json()]).toEqual([503, { status: "not_ready" }]);
  });

  it("drains: finishes running calls, closes idle connections, accepts no new ones", async () => {
    let isBegun = false;
    let finish: () => void = () => undefined;
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const { port, server } = await start({
      methods: [
        thingMethod("getThing", GET_THING, async ({ name }: Thing) => {
          isBegun ||= name === "slow";
          if (name === "slow") await finished;
          return { name };
        }),
      ],
    });
    const silent = connect(port, "127.0.0.1");
    const idle = connect(port, "127.0.0.1");
    idle.write(get("/v1/things/a"));
    const closed = Promise.all(
      [silent, idle].map(
        (socket) => new Promise((resolve) => socket.on("close", resolve).resume()),
      ),
    );
    const busy = connect(port, "127.0.0.1");
    busy.write(get("/v1/things/slow"));
    const answer = readAll(busy, 1_000);
    await expect.poll(() => isBegun, { message: "the handler begins" }).toBe(true);
    const begin = performance.now();
    const drained = server.drain();
    finish();
    await drained;
    // An idle connection may live for 75 seconds.
    expect(performance.now() - begin).toBeLessThan(30_000);
    const response = await answer;
    expect(response).toContain('"name":"slow"');
    expect(response).toContain("Connection: close");
    await closed;
    await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow();
  });

  it("drains: answers all that a client has sent at once, and ends the connection with the last", async () => {
    const begun: string[] = [];
    let letGo: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    const { port, server } = await start({
      methods: [
        thingMethod("getThing", GET_THING, async ({ name }: Thing) => {
          begun.push(name);
          if (name !== "c") await held;
          return { name };
        }),
      ],
    });
    const socket = connect(port, "127.0.0.1");
    socket.write(["a", "b"].map((name) => get(`/v1/things/${name}`)).join(""));
    const answer = readAll(socket, 1_000);
    await expect.poll(() => begun, { message: "the first two calls begin" }).toEqual(["a", "b"]);
    const drained = server.drain();
    socket.write(["c", "d"].map((name) => get(`/v1/things/${name}`)).join(""));
    await expect.poll(() => begun, { message: "the third call begins" }).toEqual(["a", "b", "c"]);
    letGo();
    const responses = (await answer).split(/(?=HTTP\/1\.1 )/);
    expect(responses.map((response) => /"name":"(.)"/.exec(response)?.[1])).toEqual(begun);
    expect(responses.map((response) => /^connection: close/im.test(response))).toEqual([
      false,
      false,
      true,
    ]);
    await drained;
  });

  it("ends at once, with the running calls", async () => {
    let reason: unknown;
    let isBegun = false;
    const { port, server } = await start({
      methods: [
        thingMethod("getThing", GET_THING, (_request: Thing, { signal }: CallContext) => {
          isBegun = true;
          signal.addEventListener("abort", () => (reason = signal.reason));
          return new Promise(() => undefined);
        }),
      ],
    });
    const socket = connect(port, "127.0.0.1");
    socket.write(get("/v1/things/a"));
    const ended = readAll(socket, 5_000);
    await expect.poll(() => isBegun, { message: "the handler begins" }).toBe(true);
    await server.close();
    expect(await ended).toBe("");
    expect(reason).toMatchObject({ code: "CANCELLED" });
  });

  it("can be closed before it listened, and twice", async () => {
    const { server } = await start({});
    await server.close();
    await server.close();
  });
});

describe("names of a client certificate", () => {
  it.each([
    ["", []],
    ["DNS:edge.example.com, URI:spiffe://x/y", ["edge.example.com", "spiffe://x/y"]],
    ["IP Address:10.0.0.1", ["10.0.0.1"]],
    ['URI:"http://a/, DNS:evil.com"', ["http://a/, DNS:evil.com"]],
    ['URI:"http://a/, DNS:evil.com', []],
    ["othername:<unsupported>, DNS:a", ["a"]],
  ])("%s", (text, names) => {
    expect(alternativeNames(text)).toEqual(names);
  });
});
