/** Requests with an ambiguous end, and misused connections. */
import { connect } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { ALICE } from "./support/alice.ts";
import { type Field, headerOf, requestText, sendText } from "./support/raw-http.ts";
import { expectErrorBody, startWorld, type World } from "./support/world.ts";

let world: World;
beforeAll(async () => {
  world = await startWorld({ mode: "gateway_trusted" });
});
afterAll(() => world.stop());
beforeEach(() => void (world.handled.length = 0));

const door = (from: "trusted" | "stranger" = "trusted") => world.port("http", from);
const lines = (...all: string[]) => `${all.join("\r\n")}\r\n\r\n`;
const alice = ALICE.map(([name, value]) => `${name}: ${value}`);
const smuggled = lines(
  "GET /v1/documents/open HTTP/1.1",
  "Host: vault",
  ...alice,
  "Connection: close",
);

describe("40 an ambiguous request is refused, and ends the connection", () => {
  const post = "POST /v1/documents:reconcile HTTP/1.1";
  const chunk = "0\r\n\r\n";
  test.each([
    ["40 two lengths", [post, "Host: x", "Content-Length: 0", "Content-Length: 5"]],
    ["40 two lengths in one header", [post, "Host: x", "Content-Length: 0, 5"]],
    [
      "40 a length and chunks",
      [post, "Host: x", "Content-Length: 5", "Transfer-Encoding: chunked"],
    ],
    [
      "40 chunks and a length",
      [post, "Host: x", "Transfer-Encoding: chunked", "Content-Length: 5"],
    ],
    ["40 an unknown encoding", [post, "Host: x", "Transfer-Encoding: xchunked"]],
    ["40 chunked, then identity", [post, "Host: x", "Transfer-Encoding: chunked, identity"]],
    [
      "40 chunked in a second header",
      [post, "Host: x", "Transfer-Encoding: chunked", "Transfer-Encoding: identity"],
    ],
    ["40 a vertical tab before chunked", [post, "Host: x", "Transfer-Encoding: \u000bchunked"]],
    ["40 a space before the colon", [post, "Host: x", "Transfer-Encoding : chunked"]],
    ["40 a negative length", [post, "Host: x", "Content-Length: -1"]],
    ["40 a length in hexadecimal", [post, "Host: x", "Content-Length: 0x5"]],
    ["40 a length that overflows", [post, "Host: x", "Content-Length: 99999999999999999999"]],
    [
      "40 a folded header",
      ["GET /v1/profile HTTP/1.1", "Host: x", "X-A: 1", " X-Svc-User-Id: alice"],
    ],
    ["40 a NUL in a value", ["GET /v1/profile HTTP/1.1", "Host: x", "X-A: a\0b"]],
    ["40 a NUL in a name", ["GET /v1/profile HTTP/1.1", "Host: x", "X-A\0: a"]],
    ["40 a name with a space", ["GET /v1/profile HTTP/1.1", "Host: x", "X-Svc-User-Id : alice"]],
    ["40 an empty name", ["GET /v1/profile HTTP/1.1", "Host: x", ": alice"]],
    ["40 a header without a colon", ["GET /v1/profile HTTP/1.1", "Host: x", "X-Svc-User-Id"]],
    [
      "40 a lone CR in a value",
      ["GET /v1/profile HTTP/1.1", "Host: x", "X-A: a\rX-Svc-User-Id: alice"],
    ],
    ["40 another version", ["GET /v1/profile HTTP/3.0", "Host: x"]],
    ["40 an unknown method", ["LOOK /v1/profile HTTP/1.1", "Host: x"]],
    ["40 a method in lower case", ["get /v1/profile HTTP/1.1", "Host: x"]],
  ] as [string, string[]][])("%s", async (_title, text) => {
    const body = text[0] === post ? chunk : "";
    const responses = await sendText(door(), `${lines(...text)}${body}${smuggled}`);
    expect(responses).toHaveLength(1);
    const [response] = responses as [(typeof responses)[0] & object];
    expect(response.status).toBe(400);
    expectErrorBody(response.body, 400, headerOf(response, "x-request-id"));
    expect(headerOf(response, "connection")).toBe("close");
    expect(world.handled).toEqual([]);
  });

  test.each([
    ["40 no host", ["X-A: 1"]],
    ["40 two hosts", ["Host: vault", "Host: evil"]],
    ["40 the same host twice", ["Host: vault", "host: vault"]],
  ])("%s", async (_title, fields) => {
    const text = lines("GET /v1/notices/n HTTP/1.1", ...fields, "Connection: close");
    const [response] = await sendText(door(), text);
    expect(response?.status).toBe(400);
    expectErrorBody(response?.body ?? "", 400, headerOf(response as never, "x-request-id"));
    expect(world.handled).toEqual([]);
  });

  test.each(["GET /v1/profile", "GET /v1/profile HTTP/0.9", "GET /v1/profile HTTP/2.0"])(
    "40 %s: a request with another or no version is refused",
    async (line) => {
      const [response] = await sendText(door(), lines(line, "Host: vault", ...alice));
      // A version without headers may be cut off without a response.
      if (response !== undefined) expect(response.status).toBe(400);
      expect(world.handled).toEqual([]);
    },
  );

  test("40 an unknown expectation gets an error response", async () => {
    const text = requestText("GET /v1/notices/n", [["Expect", "200-maybe"]]);
    const [response] = await sendText(door(), text);
    expect(response?.status).toBe(417);
    expectErrorBody(
      response?.body ?? "",
      response?.status ?? 0,
      headerOf(response as never, "x-request-id"),
    );
  });
});

describe("40 a body is never read as the next request", () => {
  const refused = (...fields: Field[]) =>
    requestText("POST /v1/documents:reconcile", fields, smuggled, false);

  test.each([
    ["40 of a refused caller", "stranger", "POST /v1/documents:reconcile", [], 401],
    ["40 without a route", "trusted", "POST /v1/nothing", [], 404],
    ["40 of an unknown method", "trusted", "POST /v1/profile", [], 405],
    ["40 of a refused path", "trusted", "POST /v1//profile", [], 400],
    ["40 of a refused content type", "trusted", "PUT /v1/documents/open", ALICE, 415],
    ["40 of a request without one", "trusted", "GET /v1/documents/open", ALICE, 400],
    ["40 of a probe", "trusted", "GET /healthz", [], 200],
    ["40 of a preflight", "trusted", "OPTIONS /v1/profile", [], 204],
  ] as const)("%s", async (_title, from, line, fields, status) => {
    const text = requestText(line, fields, smuggled, false);
    const responses = await sendText(door(from), text, 400);
    expect(responses.map((one) => one.status)).toEqual([status]);
    expect(world.handled).toEqual([]);
  });

  test("40 in chunks, with trailers that name a caller", async () => {
    const chunks = `${smuggled.length.toString(16)}\r\n${smuggled}\r\n0\r\nX-Svc-Auth-Verified: true\r\nX-Svc-User-Id: alice\r\n\r\n`;
    const head = requestText(
      "POST /v1/documents:reconcile",
      [["Transfer-Encoding", "chunked"]],
      "",
      false,
    );
    const responses = await sendText(door(), `${head}${chunks}`, 400);
    expect(responses.map((one) => one.status)).toEqual([401]);
  });

  test("40 a request after a response that ends the connection is not served", async () => {
    const first = requestText("POST /v1/nothing", [], "x".repeat(20_000), false);
    const fields: Field[] = [...ALICE, ["Content-Type", "application/json"]];
    const write = requestText("PUT /v1/documents/open", fields, "{}", false);
    const responses = await sendText(door(), first + write);
    expect(responses.map((one) => one.status)).toEqual([404]);
    expect(headerOf(responses[0] as never, "connection")).toBe("close");
    expect(world.handled).toEqual([]);
  });

  test("40 a pipelined request is separate, with its own caller", async () => {
    const next = requestText("GET /v1/profile", []);
    const first = requestText("GET /v1/profile", ALICE, "", false);
    const responses = await sendText(door(), first + refused() + next);
    // A client that is refused within the body may be cut off before the last response.
    expect(responses.map((one) => one.status).slice(0, 2)).toEqual([200, 401]);
    expect(responses.slice(2).every((one) => one.status === 401)).toBe(true);
    expect(world.handled.map(({ principal }) => principal?.subjectId)).toEqual(["alice"]);
  });
});

describe("40 limits of requests", () => {
  test("40 129 headers are refused, 127 are not", async () => {
    const many = (count: number): Field[] =>
      new Array(count).fill(0).map((_, index) => [`X-${index}`, "1"]);
    const [more] = await sendText(door(), requestText("GET /v1/notices/n", many(127)));
    expect(more?.status).toBe(431);
    expectErrorBody(more?.body ?? "", 431, headerOf(more as never, "x-request-id"));
    const [less] = await sendText(door(), requestText("GET /v1/notices/n", many(126)));
    expect(less?.status).toBe(200);
  });

  test("40 a header of 20 KB, a name of 20 KB, a path of 20 KB", async () => {
    const long = "x".repeat(20_000);
    for (const text of [
      requestText("GET /v1/notices/n", [["X-A", long]]),
      requestText("GET /v1/notices/n", [[long, "1"]]),
      requestText(`GET /v1/notices/${long}`, []),
    ]) {
      const [response] = await sendText(door(), text);
      expect(response?.status).toBe(431);
      expectErrorBody(response?.body ?? "", 431, headerOf(response as never, "x-request-id"));
    }
    expect(world.handled).toEqual([]);
  });

  test("40 a client that sends its headers a byte at a time is cut off", async () => {
    const socket = connect(world.vault.http, "127.0.0.1");
    const closed = new Promise<string>((resolve) => {
      let text = "";
      socket.on("data", (chunk) => (text += chunk.toString("latin1")));
      socket.on("error", () => undefined);
      socket.once("close", () => resolve(text));
    });
    socket.write("GET /v1/notices/n HTTP/1.1\r\nHost: vault\r\nX-A: ");
    const timer = setInterval(() => socket.write("a"), 200);
    const text = await closed;
    clearInterval(timer);
    expect(text).toMatch(/^HTTP\/1\.1 408 /);
    expect(text).toContain('"code":"REQUEST_TIMEOUT"');
    expect(world.handled).toEqual([]);
  });
});
