import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { afterEach, describe, expect, test } from "vitest";
import type { HttpRoute } from "../../../../src/runtime/binding/service-binding.ts";
import { createHttpClient } from "../../../../src/runtime/client/http/http-client.ts";
import type { HttpClientOptions } from "../../../../src/runtime/client/http/http-transport.ts";
import { ServiceError } from "../../../../src/runtime/error/service-error.ts";
import { EchoService, Shade } from "../../grpc/fixture/gen/fixture/v1/fixture_pb.ts";

const rpc = (name: string) => `fixture.v1.EchoService/${name}`;
const variable = (field: string, start: number, end = start + 1) => ({ field, start, end });

const routes: readonly HttpRoute[] = [
  {
    rpc: rpc("Echo"),
    method: "GET",
    path: "/v1/echo/{text}",
    segments: ["v1", "echo", "*"],
    variables: [variable("text", 2)],
  },
  {
    rpc: rpc("Echo"),
    method: "GET",
    path: "/v1/echo",
    segments: ["v1", "echo"],
    variables: [],
    verb: "all",
  },
  {
    rpc: rpc("Write"),
    method: "POST",
    path: "/v1/items/{item.id}/{path=**}:write",
    segments: ["v1", "items", "*", "**"],
    variables: [variable("item.id", 2), variable("path", 3)],
    verb: "write",
    body: "item",
    responseBody: "item",
  },
  {
    rpc: rpc("Replace"),
    method: "PUT",
    path: "/v1/{path=things/*/parts/*}",
    segments: ["v1", "things", "*", "parts", "*"],
    variables: [variable("path", 1, 5)],
    body: "*",
  },
  {
    rpc: rpc("Expand"),
    method: "POST",
    path: "/v1/expand",
    segments: ["v1", "expand"],
    variables: [],
    body: "*",
  },
  {
    rpc: rpc("Collect"),
    method: "POST",
    path: "/v1/collect",
    segments: ["v1", "collect"],
    variables: [],
    body: "*",
  },
];

interface Received {
  readonly line: string;
  readonly body: string;
  readonly headers: IncomingMessage["headers"];
}

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

type Answer = (response: ServerResponse, count: number) => void;
const json =
  (value: unknown, status = 200, headers: Record<string, string> = {}): Answer =>
  (response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(JSON.stringify(value));
  };

/** A client of a server that answers by a function, and the requests that the server received. */
async function start(answer: Answer, options: Partial<HttpClientOptions> = {}, prefix = "") {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const piece of request) body += piece;
    received.push({ line: `${request.method} ${request.url}`, body, headers: request.headers });
    answer(response, received.length);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  const baseUrl = `http://127.0.0.1:${port}${prefix}`;
  const client = createHttpClient(EchoService, routes, { baseUrl, retry: false, ...options });
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  closing.push(() => client.close());
  return { client, received, server };
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

describe("36: values that do not match a path are not sent", () => {
  test.each([
    { path: "", id: "1" },
    { path: "a//b", id: "1" },
    { path: "../x", id: "1" },
    { path: "a/..", id: "1" },
    { path: "./a", id: "1" },
    { path: "/a", id: "1" },
    { path: "a", id: "" },
    { path: "a", id: ".." },
    { path: "a", id: "." },
  ])("path '$path', id '$id'", async ({ path, id }) => {
    const { client, received } = await start(json({}));
    await expect(client.write({ path, item: { id } })).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
    });
    expect(received).toEqual([]);
  });

  test.each(["things/1/parts", "things/1/parts/2/3", "other/1/parts/2", "things//parts/2", "x"])(
    "a pattern: '%s'",
    async (path) => {
      const { client } = await start(json({}));
      await expect(client.replace({ path })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    },
  );

  test("nor are values that a query cannot contain", async () => {
    const { client } = await start(json({}));
    // Lists and messages are possible; the fixture has no map, so bytes represent the others.
    await expect(client.echo({ text: "a", data: new Uint8Array([255]) })).resolves.toBeDefined();
  });
});

describe("requests", () => {
  test.each([
    { request: { text: "a" }, line: "GET /v1/echo/a" },
    { request: { text: "a/b c%?#&ü" }, line: "GET /v1/echo/a%2Fb%20c%25%3F%23%26%C3%BC" },
    { request: {}, line: "GET /v1/echo:all" },
    {
      request: { text: "a", count: 3, big: 5n, shade: Shade.DARK, tags: ["x", "y&z"] },
      line: "GET /v1/echo/a?count=3&big=5&shade=SHADE_DARK&tags=x&tags=y%26z",
    },
    {
      request: { text: "a", item: { displayName: "n", id: "1" } },
      line: "GET /v1/echo/a?item.id=1&item.displayName=n",
    },
    {
      request: { text: "a", since: { seconds: 1n, nanos: 0 } },
      line: "GET /v1/echo/a?since=1970-01-01T00%3A00%3A01Z",
    },
  ])("$line", async ({ request, line }) => {
    const { client, received } = await start(json({ text: "x" }));
    expect(await client.echo(request as never)).toMatchObject({ text: "x" });
    expect(received).toMatchObject([{ line, body: "" }]);
  });

  test("a body field, the rest in path and query; response_body", async () => {
    const { client, received } = await start(json({ id: "9", displayName: "N" }));
    const item = { id: "1", displayName: "n" };
    const answer = await client.write({ item, path: "a b/c", validateOnly: true });
    expect(received).toMatchObject([
      {
        line: "POST /v1/items/1/a%20b/c:write?validateOnly=true",
        body: '{"displayName":"n"}',
        headers: { "content-type": "application/json", accept: "application/json" },
      },
    ]);
    expect(answer.item).toMatchObject({ id: "9", displayName: "N" });
  });

  test("a whole body, without the fields of the path", async () => {
    const { client, received } = await start(json({ note: "n" }), {}, "/base/");
    await client.replace({ path: "things/1/parts/2", item: { id: "x" } });
    expect(received).toMatchObject([
      { line: "PUT /base/v1/things/1/parts/2", body: '{"item":{"id":"x"}}' },
    ]);
  });

  test("several values of one name are sent, and the headers of the response are reported", async () => {
    const { client, received } = await start(json({}));
    let type: readonly string[] = [];
    await client.echo(
      {},
      {
        metadata: { "X-Own": ["a", "b"] },
        onHeaders: (headers) => void (type = headers.all("content-type")),
      },
    );
    expect(received[0]?.headers).toMatchObject({ "x-own": "a,b" });
    expect(type).toEqual(["application/json"]);
  });

  test("request id, trace and token are sent; connections are reused", async () => {
    const { client, received, server } = await start(json({}), { internalToken: "t".repeat(20) });
    let connections = 0;
    server.on("connection", () => connections++);
    for (let count = 0; count < 5; count++) await client.echo({ text: "a" });
    expect(connections).toBe(1);
    expect(received[0]?.headers).toMatchObject({
      "x-svc-internal-token": "t".repeat(20),
      "x-request-id": expect.any(String),
      traceparent: expect.any(String),
      "user-agent": "svc-access",
    });
  });
});

describe("errors", () => {
  const body = {
    status: 409,
    code: "SKILL_PUBLISHED",
    message: "it is",
    request_id: "r",
    details: { a: 1 },
  };

  test.each([
    { name: "ours", answer: json(body, 409), error: { ...body, details: { a: 1 } } },
    {
      name: "a rate limit",
      answer: json({ code: "RATE_LIMITED", message: "m" }, 429, { "retry-after": "7" }),
      error: { code: "RATE_LIMITED", retryAfterSeconds: 7 },
    },
    { name: "a proxy's", answer: json("x", 502), error: { code: "UNAVAILABLE" } },
    { name: "junk", answer: json({ code: "<b>", message: 1 }, 403), error: { code: "FORBIDDEN" } },
    { name: "418", answer: json({}, 418), error: { code: "INVALID_ARGUMENT" } },
    {
      name: "a redirect, which is not followed",
      answer: json({}, 302, { location: "http://127.0.0.1:1/steal" }),
      error: { code: "INTERNAL", message: "the server answered with status 302" },
    },
  ])("$name", async ({ answer, error }) => {
    const { client } = await start(answer);
    const thrown = await client.echo({ text: "a" }).catch((each: unknown) => each);
    expect(thrown).toBeInstanceOf(ServiceError);
    const { request_id: _, ...notified } = error as Record<string, unknown>;
    expect(thrown).toMatchObject(notified);
  });

  test.each([
    {
      name: "no JSON",
      answer: (r: ServerResponse) => r.setHeader("content-type", "application/json").end("{"),
    },
    {
      name: "another type",
      answer: (r: ServerResponse) => r.setHeader("content-type", "text/html").end("{}"),
    },
    { name: "another message", answer: json({ count: "many" }) },
    { name: "too much", answer: json({ text: "x".repeat(5000) }) },
  ])("a response that is $name", async ({ answer }) => {
    const { client } = await start(answer as Answer, { maxResponseBytes: 1000 });
    await expect(client.echo({ text: "a" })).rejects.toMatchObject({ code: "INTERNAL" });
  });

  test("after a dropped connection, only idempotent calls are retried", async () => {
    const drop: Answer = (response, count) =>
      count % 2 === 1 ? response.destroy() : json({})(response, count);
    const { client, received } = await start(drop, { retry: { initialDelayMs: 1 } });
    const item = { id: "1" };
    await expect(client.write({ item, path: "a" })).rejects.toMatchObject({ code: "UNAVAILABLE" });
    expect(received.length).toBe(1);
    received.length = 0;
    await client.replace({ path: "things/1/parts/2" });
    expect(received.length).toBe(2);
  });

  test("without a server, any call is retried", async () => {
    let attempts = 0;
    const client = createHttpClient(EchoService, routes, {
      baseUrl: "http://127.0.0.1:1",
      retry: { initialDelayMs: 1 },
      after: [(_call, next) => (attempts++, next())],
    });
    const call = client.write({ item: { id: "1" }, path: "a" });
    await expect(call).rejects.toMatchObject({ code: "UNAVAILABLE", message: "unavailable" });
    expect(attempts).toBe(3);
    await client.close();
  });

  test.each([
    { name: "no headers", answer: () => undefined },
    {
      name: "no body",
      answer: (r: ServerResponse) =>
        void r.writeHead(200, { "content-type": "application/json" }).flushHeaders(),
    },
  ])("a server that sends $name", async ({ answer }) => {
    const { client } = await start(answer as Answer, { timeoutMs: 80 });
    await expect(client.echo({ text: "a" })).rejects.toMatchObject({ code: "DEADLINE_EXCEEDED" });
  });

  test("RPCs that HTTP cannot carry", async () => {
    const { client } = await start(json({}));
    const requests = (async function* () {})();
    await expect(client.collect(requests)).rejects.toMatchObject({ code: "UNIMPLEMENTED" });
    await expect(all(client.chat(requests))).rejects.toMatchObject({ code: "UNIMPLEMENTED" });
  });

  test.each(["ftp://x", "nothing", "unix:/x"])("the base URL %s", (baseUrl) => {
    expect(() => createHttpClient(EchoService, routes, { baseUrl })).toThrow(TypeError);
  });
});

describe("streams", () => {
  const lines =
    (...texts: string[]): Answer =>
    (response) => {
      response.writeHead(200, { "content-type": "application/x-ndjson" });
      for (const text of texts) response.write(text);
      response.end();
    };

  test("lines, however they are split", async () => {
    const { client, received } = await start(
      lines('{"text":"a"}\n{"te', 'xt":"b"}\n', '{"count":1}\n'),
    );
    const answers = await all(client.expand({ count: 2 }));
    expect(answers.map(({ text, count }) => [text, count])).toEqual([
      ["a", 0],
      ["b", 0],
      ["", 1],
    ]);
    expect(received).toMatchObject([
      { body: '{"count":2}', headers: { accept: "application/x-ndjson" } },
    ]);
  });

  test.each([
    {
      name: "an error as the last line",
      texts: [
        '{"text":"a"}\n',
        '{"error":{"status":403,"code":"FORBIDDEN","message":"no","request_id":"r"}}\n',
      ],
      error: { code: "FORBIDDEN", message: "no" },
    },
    { name: "half a line", texts: ['{"text":"a"}\n', '{"text"'], error: { code: "INTERNAL" } },
    { name: "no JSON", texts: ['{"text":"a"}\n', "x\n"], error: { code: "INTERNAL" } },
    {
      name: "a long line",
      texts: ['{"text":"a"}\n', "x".repeat(5000)],
      error: { code: "INTERNAL" },
    },
  ])("$name", async ({ texts, error }) => {
    const { client } = await start(lines(...texts), { maxResponseBytes: 1000 });
    const heard: string[] = [];
    const read = async () => {
      for await (const { text } of client.expand({})) heard.push(text);
    };
    await expect(read()).rejects.toMatchObject(error);
    expect(heard).toEqual(["a"]);
  });

  test("a caller that stops reading closes the connection", async () => {
    let gone = false;
    const { client } = await start((response) => {
      response.writeHead(200, { "content-type": "application/x-ndjson" });
      const timer = setInterval(() => response.write('{"text":"a"}\n'), 5);
      response.on("close", () => {
        gone = true;
        clearInterval(timer);
      });
    });
    for await (const _ of client.expand({})) break;
    await expect
      .poll(() => gone, { message: "the server sees that the client closed the connection" })
      .toBe(true);
  });
});
