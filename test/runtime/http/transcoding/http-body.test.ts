import { connect } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createGrpcClient, createHttpClient, ServiceError } from "../../../../src/runtime/index.ts";
import { readAll, sendRaw, statusOf } from "../support.ts";
import { RawService, type UploadRequest } from "../unusual-protos/gen/unusual/raw/v1/raw_pb.ts";
import {
  bindRawService,
  RawServiceRoutes,
} from "../unusual-protos/gen/unusual/raw/v1/raw_server.ts";
import { startUnusual, type UnusualServer } from "../unusual-protos/unusual-server.ts";

const LIMIT = 1000;
/** Bytes that are not text. */
const BYTES = Uint8Array.from([0, 255, 10, 13, 128, 0]);

let server: UnusualServer;
let origin: string;

beforeAll(async () => {
  server = await startUnusual([bindRawService], { max_body_bytes: LIMIT });
  origin = `http://127.0.0.1:${server.http}`;
});
beforeEach(() => {
  server.seen.length = 0;
  server.lines.length = 0;
});
afterAll(() => server.stop());

const hello = (contentType: string, text = "hello") => ({ contentType, data: Buffer.from(text) });
const requests = () => server.seen.map(({ request }) => request);

describe("a response that is a google.api.HttpBody", () => {
  it.each([
    "text/html\r\nSet-Cookie: a=b",
    "text",
    "text/html, text/plain",
    "text/ht\u00e4ml",
    " text/html",
    "/",
    "text/html\u0000",
  ])("is a fault where its type is none: %j", async (type) => {
    server.answer = async () => hello(type);
    const response = await fetch(`${origin}/v1/files/a`);
    expect(response.status).toBe(500);
    expect(await response.json()).toMatchObject({ code: "INTERNAL", message: "internal error" });
    expect(response.headers.get("set-cookie")).toBeNull();
    await expect
      .poll(() => server.lines.join(""), { message: "the log names the fault" })
      .toContain("content_type is not a media type");
  });

  it.each(["text/html; charset=utf-8", "image/svg+xml", "application/json", 'a/b; c="d e"'])(
    "is its bytes, with its type and no other: %s",
    async (type) => {
      server.answer = async (_request, context) => {
        context.setResponseHeader("Content-Type", "text/css");
        context.setResponseHeader("Content-Disposition", "attachment");
        return { contentType: type, data: BYTES };
      };
      const response = await fetch(`${origin}/v1/files/a`);
      expect(new Uint8Array(await response.arrayBuffer())).toEqual(BYTES);
      expect(Object.fromEntries(response.headers)).toMatchObject({
        "content-type": type,
        "content-length": "6",
        "content-disposition": "attachment",
        "x-content-type-options": "nosniff",
      });
    },
  );

  it("has the generic type if the handler sets none, regardless of Accept", async () => {
    server.answer = async () => hello("", "<script>alert(1)</script>");
    const headers = { accept: "text/html", "content-type": "text/html" };
    const response = await fetch(`${origin}/v1/files/a`, { headers });
    expect(response.headers.get("content-type")).toBe("application/octet-stream");
    expect(response.headers.get("x-content-type-options")).toBe("nosniff");
  });

  it("is sent without its bytes to a HEAD", async () => {
    server.answer = async () => hello("text/plain");
    const response = await sendRaw(server.http, "HEAD /v1/files/a HTTP/1.1\r\nHost: x\r\n\r\n");
    expect(response).toContain("Content-Type: text/plain\r\n");
    expect(response).toContain("Content-Length: 5\r\n");
    expect(response).toMatch(/\r\n\r\n$/);
  });

  it("may be a field, by response_body; an unset one is an empty body", async () => {
    const put = () => fetch(`${origin}/v1/files/a`, { method: "PUT" });
    server.answer = async () => ({ name: "a", content: hello("text/plain") });
    expect(await (await put()).text()).toBe("hello");
    server.answer = async () => ({ name: "a" });
    const empty = await put();
    expect([empty.status, await empty.text()]).toEqual([200, ""]);
  });

  it("is JSON if it is inside another message", async () => {
    server.answer = async () => ({ name: "a", content: hello("text/plain") });
    const body = JSON.stringify({ name: "a", content: { contentType: "x/y", data: "AA==" } });
    const headers = { "content-type": "application/json" };
    const response = await fetch(`${origin}/v1/files`, { method: "POST", headers, body });
    expect(await response.json()).toMatchObject({
      content: { contentType: "text/plain", data: "aGVsbG8=" },
    });
    expect(requests()).toMatchObject([
      { content: { contentType: "x/y", data: new Uint8Array(1) } },
    ]);
  });

  it("does not change errors", async () => {
    server.answer = async () => Promise.reject(new ServiceError("RESOURCE_NOT_FOUND", "no file"));
    const response = await fetch(`${origin}/v1/files/a`);
    expect(response.headers.get("content-type")).toBe("application/json");
    expect(await response.json()).toMatchObject({ status: 404, message: "no file" });
  });
});

describe("a stream of them", () => {
  const follow = () => fetch(`${origin}/v1/files/a:follow`);

  it("is one body, with the type of the first", async () => {
    server.answer = async function* () {
      yield hello("text/csv", "a,");
      yield hello("text/html", "<b>\n");
      yield { data: BYTES };
    };
    const response = await follow();
    expect(response.headers.get("content-type")).toBe("text/csv");
    expect(Buffer.from(await response.arrayBuffer())).toEqual(
      Buffer.concat([Buffer.from("a,<b>\n"), BYTES]),
    );
  });

  it("that is empty has an empty body and the generic type", async () => {
    server.answer = async function* () {};
    const response = await follow();
    expect([response.status, await response.text()]).toEqual([200, ""]);
    expect(response.headers.get("content-type")).toBe("application/octet-stream");
  });

  it("that fails at once is a normal error", async () => {
    server.answer = async function* () {
      throw new ServiceError("RESOURCE_NOT_FOUND");
    };
    expect((await follow()).status).toBe(404);
  });

  it("that fails later is cut off, so that no client considers it complete", async () => {
    server.answer = async function* () {
      yield hello("text/plain", "begin");
      throw new ServiceError("RESOURCE_NOT_FOUND");
    };
    const response = await follow();
    await expect(response.text()).rejects.toThrow();
    const socket = connect(server.http, "127.0.0.1");
    socket.write("GET /v1/files/a:follow HTTP/1.1\r\nHost: x\r\n\r\n");
    const all = await readAll(socket);
    expect(all).toContain("begin");
    expect(all).not.toContain("0\r\n\r\n");
    expect(all).not.toContain("RESOURCE_NOT_FOUND");
  });

  it("ends for the handler when its reader disconnects", async () => {
    let isOver = false;
    server.answer = async function* () {
      try {
        for (;;) yield hello("text/plain", "x".repeat(100_000));
      } finally {
        isOver = true;
      }
    };
    const stop = new AbortController();
    const { body } = await fetch(`${origin}/v1/files/a:follow`, { signal: stop.signal });
    await body?.getReader().read();
    stop.abort();
    await expect
      .poll(() => isOver, { message: "the handler ends when its reader disconnects" })
      .toBe(true);
  });
});

describe("a body that is a google.api.HttpBody", () => {
  const post = (path: string, method: string, headers: string[], body = "") =>
    sendRaw(
      server.http,
      [`${method} ${path} HTTP/1.1`, "Host: x", ...headers, "", body].join("\r\n"),
    );

  it.each([
    ["two types", ["Content-Type: a/b", "Content-Type: a/b", "Content-Length: 1"], 415],
    ["compressed", ["Content-Type: a/b", "Content-Encoding: gzip", "Content-Length: 1"], 415],
    ["too large", ["Content-Type: a/b", `Content-Length: ${LIMIT + 1}`], 413],
  ])("is refused where it has or is: %s", async (_name, headers, status) => {
    for (const [path, method] of [
      ["/v1/echo", "POST"],
      ["/v1/files/a", "PUT"],
    ] as const) {
      const response = await post(path, method, headers, "x");
      expect(statusOf(response)).toBe(status);
    }
    expect(server.seen).toEqual([]);
  });

  it("is refused once it has grown too large", async () => {
    const chunk = `400\r\n${"x".repeat(1024)}\r\n`;
    const headers = ["Content-Type: a/b", "Transfer-Encoding: chunked"];
    expect(statusOf(await post("/v1/echo", "POST", headers, chunk))).toBe(413);
    expect(server.seen).toEqual([]);
  });

  it("with a parameter that would change it is refused", async () => {
    const response = await fetch(`${origin}/v1/files/a?content.content_type=text/html`, {
      method: "PUT",
      body: "x",
    });
    expect(response.status).toBe(400);
    const whole = await fetch(`${origin}/v1/echo?content_type=text/html`, {
      method: "POST",
      body: "x",
    });
    expect(whole.status).toBe(400);
    expect(server.seen).toEqual([]);
  });

  it.each([
    ["application/json", '{"a":1'],
    ["text/plain; charset=latin1", "x"],
    ["multipart/form-data; boundary=x", "--x--"],
  ])("is its bytes, with the type %s", async (type, body) => {
    server.answer = async (request) => request;
    const response = await fetch(`${origin}/v1/echo`, {
      method: "POST",
      body,
      headers: { "content-type": type },
    });
    expect(requests()).toMatchObject([
      { contentType: type, data: new Uint8Array(Buffer.from(body)) },
    ]);
    expect([response.headers.get("content-type"), await response.text()]).toEqual([type, body]);
  });

  it("may be a field; the other fields come from path and query", async () => {
    server.answer = async () => ({});
    await fetch(`${origin}/v1/files/a%2Fb?is_final=true`, { method: "PUT", body: BYTES });
    expect(requests()).toMatchObject([
      { name: "a/b", isFinal: true, content: { contentType: "", data: BYTES } },
    ]);
  });

  it("is not set if neither bytes nor a type are sent", async () => {
    server.answer = async () => ({});
    await post("/v1/files/a", "PUT", ["Content-Length: 0"]);
    await post("/v1/files/a", "PUT", ["Content-Length: 0", "Content-Type: text/plain"]);
    const contents = requests().map((request) => (request as UploadRequest).content);
    expect(contents).toMatchObject([
      undefined,
      { contentType: "text/plain", data: new Uint8Array() },
    ]);
  });
});

describe("typed clients of both transports", () => {
  const clients = () => {
    const http = createHttpClient(RawService, RawServiceRoutes, {
      baseUrl: origin,
      maxResponseBytes: 100_000,
    });
    const grpc = createGrpcClient(RawService, { target: `127.0.0.1:${server.grpc}` });
    return { http, grpc };
  };

  it("refuse extensions over HTTP, which cannot represent them", async () => {
    await using http = clients().http;
    const extensions = [{ typeUrl: "x/y", value: BYTES }];
    await expect(http.echo({ data: BYTES, extensions })).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
    });
    expect(server.seen).toEqual([]);
  });

  const BODIES = [{}, { data: BYTES }, { contentType: "a/b" }, { contentType: "a/b", data: BYTES }];

  it.each(BODIES)("send and get the same: %j", async (body) => {
    server.answer = async (request) => request;
    const { http, grpc } = clients();
    const answers = [await http.echo(body), await grpc.echo(body)];
    const [overHttp, overGrpc] = requests();
    expect(overHttp).toEqual(overGrpc);
    expect(overHttp).toMatchObject(body);
    // Over HTTP a type that is not said is said to be nothing in particular.
    const { contentType = "application/octet-stream" } = body;
    expect(answers[0]).toEqual({ ...answers[1], contentType });
    await http.close();
    await grpc.close();
  });

  it.each(BODIES)("send and get the same in a field: %j", async (content) => {
    server.answer = async () => ({ content: { contentType: "x/y", data: BYTES } });
    const { http, grpc } = clients();
    const request = { name: "a/b", isFinal: true, content };
    const answers = [await http.upload(request), await grpc.upload(request)];
    expect(answers[0]).toEqual(answers[1]);
    const [overHttp, overGrpc] = requests();
    // HTTP cannot tell one that holds nothing from none.
    if (Object.keys(content).length > 0) expect(overHttp).toEqual(overGrpc);
    else expect(overHttp).toMatchObject({ name: "a/b", isFinal: true });
    await http.close();
    await grpc.close();
  });

  it("get the same bytes of a stream, and the error of one that is cut off", async () => {
    const { http, grpc } = clients();
    for (const client of [http, grpc]) {
      server.answer = async function* () {
        yield { contentType: "a/b", data: BYTES };
        yield { contentType: "a/b", data: Buffer.alloc(200_000, 1) };
        throw new ServiceError("UNAVAILABLE");
      };
      const bytes: Uint8Array[] = [];
      const read = async () => {
        for await (const { contentType, data } of client.follow({ name: "a" })) {
          expect(contentType).toBe("a/b");
          bytes.push(data);
        }
      };
      await expect(read()).rejects.toMatchObject({ code: "UNAVAILABLE" });
      const all = Buffer.concat(bytes);
      expect(all.subarray(0, BYTES.length)).toEqual(Buffer.from(BYTES));
      expect(all.length).toBe(BYTES.length + 200_000);
    }
    await http.close();
    await grpc.close();
  });

  it("accept no response above their limit", async () => {
    await using http = clients().http;
    server.answer = async () => ({ data: Buffer.alloc(100_001) });
    await expect(http.download({ name: "a" })).rejects.toMatchObject({ code: "INTERNAL" });
  });
});
