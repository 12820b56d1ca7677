/** HTTP/1 requests whose end, version, target or host two programs could interpret differently. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { ALICE } from "./support/alice.ts";
import { headerOf, type RawResponse, sendText } from "./support/raw-http.ts";
import { expectErrorBody, startWorld, type World } from "./support/world.ts";

let world: World;
beforeAll(async () => {
  world = await startWorld({ mode: "gateway_trusted" });
});
afterAll(() => world.stop());
beforeEach(() => void (world.handled.length = 0));

const alice = ALICE.map(([name, value]) => `${name}: ${value}`);
const lines = (...all: string[]) => `${all.join("\r\n")}\r\n\r\n`;
const get = (line: string, ...fields: string[]) => lines(line, ...fields, ...alice);
/** A request that must not be served after an ambiguous one. */
const smuggled = get("GET /v1/documents/open HTTP/1.1", "Host: vault");
const put = (...fields: string[]) =>
  lines(
    "PUT /v1/documents/open HTTP/1.1",
    "Host: vault",
    "Content-Type: application/json",
    ...alice,
    ...fields,
  );
const send = (text: string) => sendText(world.port("http", "trusted"), text, 400);
const handled = () => world.handled.map(({ rpc }) => rpc);

function expectRefused(responses: readonly RawResponse[], status: number): void {
  expect(responses.map((one) => one.status)).toEqual([status]);
  const [response] = responses as [RawResponse];
  expectErrorBody(response.body, status, headerOf(response, "x-request-id"));
}

describe("40 an ambiguous length is refused, and nothing after it is served [TRANS-6]", () => {
  test.each([
    ["40 a sign", "Content-Length: +2"],
    ["40 twice, and the same", "Content-Length: 2\r\nContent-Length: 2"],
    ["40 twice in one header", "Content-Length: 2, 2"],
    ["40 with a parameter", "Content-Length: 2;"],
    ["40 with an exponent", "Content-Length: 2e0"],
    ["40 empty", "Content-Length: "],
    ["40 with a vertical tab", "Content-Length: 2\x0b"],
    ["40 of -0", "Content-Length: -0"],
    ["40 of 2^64 and 2", "Content-Length: 18446744073709551618"],
    ["40 chunked in quotes", 'Transfer-Encoding: "chunked"'],
    ["40 chunked with a parameter", "Transfer-Encoding: chunked;a=b"],
    ["40 chunked twice", "Transfer-Encoding: chunked, chunked"],
    ["40 chunked in two headers", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked"],
    ["40 chunked after nothing", "Transfer-Encoding: , chunked"],
    ["40 chunked before nothing", "Transfer-Encoding: chunked,"],
    ["40 chunked after identity", "Transfer-Encoding: identity\r\nTransfer-Encoding: chunked"],
    ["40 identity", "Transfer-Encoding: identity"],
    ["40 a form feed after chunked", "Transfer-Encoding: chunked\x0c"],
    ["40 chunked in a folded line", "Transfer-Encoding:\r\n chunked"],
    ["40 chunked after a lone CR", "X-A: b\rTransfer-Encoding: chunked"],
    ["40 chunked after a lone LF", "X-A: b\nTransfer-Encoding: chunked"],
  ])("%s", async (_title, fields) => {
    expectRefused(await send(`${put(fields)}2\r\n{}\r\n0\r\n\r\n${smuggled}`), 400);
    expect(handled()).toEqual([]);
  });
});

describe("40 ambiguous chunks are refused, and nothing after them is served", () => {
  test.each([
    ["40 a sign", "+2\r\n{}\r\n0\r\n\r\n"],
    ["40 a prefix of hexadecimal", "0x2\r\n{}\r\n0\r\n\r\n"],
    ["40 a space after the size", "2 \r\n{}\r\n0\r\n\r\n"],
    ["40 a space before the size", " 2\r\n{}\r\n0\r\n\r\n"],
    ["40 an underscore", "0_2\r\n{}\r\n0\r\n\r\n"],
    ["40 a negative size", "-2\r\n{}\r\n0\r\n\r\n"],
    ["40 no size", "\r\n{}\r\n0\r\n\r\n"],
    ["40 a size of 2^64 and 2", "10000000000000002\r\n{}\r\n0\r\n\r\n"],
    ["40 LF after the size", "2\n{}\r\n0\r\n\r\n"],
    ["40 CR after the size", "2\r{}\r\n0\r\n\r\n"],
    ["40 LF after the data", "2\r\n{}\n0\r\n\r\n"],
    ["40 nothing after the data", "2\r\n{}0\r\n\r\n"],
    ["40 more data than the size", "2\r\n{} \r\n0\r\n\r\n"],
    ["40 LF after the last", "2\r\n{}\r\n0\n\n"],
    ["40 LF in an extension", "2;a\n{}\r\n0\r\n\r\n"],
    ["40 CR in an extension", "2;a\rb\r\n{}\r\n0\r\n\r\n"],
    ["40 an open quote in an extension", '2;a="b\r\n{}\r\n0\r\n\r\n'],
    ["40 a trailer without a colon", "2\r\n{}\r\n0\r\nX-Svc-User-Id\r\n\r\n"],
    ["40 a folded trailer", "2\r\n{}\r\n0\r\nX-A: b\r\n X-Svc-User-Id: bob\r\n\r\n"],
    ["40 a length in a trailer", "2\r\n{}\r\n0\r\nContent-Length: 5\r\n\r\n"],
  ])("%s", async (_title, body) => {
    expectRefused(await send(`${put("Transfer-Encoding: chunked")}${body}${smuggled}`), 400);
    expect(handled()).toEqual([]);
  });

  test.each([
    ["40 an extension of 20 KB", `2;${"a".repeat(20_000)}\r\n{}\r\n0\r\n\r\n`, 413],
    ["40 a trailer of 20 KB", `2\r\n{}\r\n0\r\nX-A: ${"a".repeat(20_000)}\r\n\r\n`, 431],
  ])("%s is too large", async (_title, body, status) => {
    expectRefused(await send(`${put("Transfer-Encoding: chunked")}${body}${smuggled}`), status);
    expect(handled()).toEqual([]);
  });

  test.each([
    ["40 an unambiguous one", "2\r\n{}\r\n0\r\n\r\n"],
    ["40 zeros before the sizes", "0002\r\n{}\r\n000\r\n\r\n"],
    ["40 an extension", "2;a=b\r\n{}\r\n0;c\r\n\r\n"],
    ["40 a thousand chunks of a byte", `${"1\r\n \r\n".repeat(1000)}2\r\n{}\r\n0\r\n\r\n`],
    ["40 an identity in a trailer", "2\r\n{}\r\n0\r\nX-Svc-User-Id: bob\r\n\r\n"],
  ])("%s ends where it says, and the next request is one", async (_title, body) => {
    const next = get("GET /v1/profile HTTP/1.1", "Host: vault", "Connection: close");
    const responses = await send(`${put("Transfer-Encoding: chunked")}${body}${next}`);
    expect(responses.map((one) => one.status)).toEqual([200, 200]);
    expect(world.handled.map(({ principal }) => principal?.subjectId)).toEqual(["alice", "alice"]);
  });
});

describe("40 a request for another host is refused", () => {
  test.each([
    ["37 another host in the target", "GET http://evil/v1/profile HTTP/1.1", "Host: vault"],
    ["37 another port in the target", "GET http://vault:81/v1/profile HTTP/1.1", "Host: vault:80"],
    ["37 a port in the target only", "GET http://vault:80/v1/profile HTTP/1.1", "Host: vault"],
    ["37 no host in the target", "GET http:///v1/profile HTTP/1.1", "Host: vault"],
    ["37 no host in both", "GET http:///v1/profile HTTP/1.1", "Host:"],
    ["37 a user in the target", "GET http://alice@vault/v1/profile HTTP/1.1", "Host: vault"],
    ["37 a user in both", "GET http://alice@vault/v1/profile HTTP/1.1", "Host: alice@vault"],
    ["37 a host that is a user", "GET http://vault@evil/v1/profile HTTP/1.1", "Host: vault"],
    ["37 a backslash in the target", "GET http://vault\\@evil/v1/profile HTTP/1.1", "Host: vault"],
    ["37 the scheme of TLS without TLS", "GET https://vault/v1/profile HTTP/1.1", "Host: vault"],
    ["37 another scheme", "GET ftp://vault/v1/profile HTTP/1.1", "Host: vault"],
    ["37 a scheme without a host", "GET http:/v1/profile HTTP/1.1", "Host: vault"],
    ["37 two slashes after the host", "GET http://vault//v1/profile HTTP/1.1", "Host: vault"],
    ["37 a dot segment after the host", "GET http://vault/../v1/profile HTTP/1.1", "Host: vault"],
    ["37 a fragment after the host", "GET http://vault#/v1/profile HTTP/1.1", "Host: vault"],
    ["8 a probe by another host", "GET http://evil/healthz HTTP/1.1", "Host: vault"],
    ["37 a target of two slashes", "GET //vault/v1/profile HTTP/1.1", "Host: vault"],
    ["40 a user in the host", "GET /v1/profile HTTP/1.1", "Host: alice@vault"],
    ["40 a path in the host", "GET /v1/profile HTTP/1.1", "Host: vault/v1"],
    ["40 a query in the host", "GET /v1/profile HTTP/1.1", "Host: vault?a"],
    ["40 a fragment in the host", "GET /v1/profile HTTP/1.1", "Host: vault#a"],
    ["40 two hosts in one header", "GET /v1/profile HTTP/1.1", "Host: vault, evil"],
    ["40 two hosts without a space", "GET /v1/profile HTTP/1.1", "Host: vault,evil"],
    ["40 a space in the host", "GET /v1/profile HTTP/1.1", "Host: va ult"],
    ["40 a backslash in the host", "GET /v1/profile HTTP/1.1", "Host: vault\\evil"],
    ["40 an open bracket", "GET /v1/profile HTTP/1.1", "Host: [::1"],
    ["40 two ports", "GET /v1/profile HTTP/1.1", "Host: vault:80:80"],
    ["40 an invalid port", "GET /v1/profile HTTP/1.1", "Host: vault:http"],
    ["40 a host that is not ASCII", "GET /v1/profile HTTP/1.1", "Host: v\xe4ult"],
    ["40 a user in the host of HTTP/1.0", "GET /v1/profile HTTP/1.0", "Host: alice@vault"],
  ])("%s", async (_title, line, host) => {
    expectRefused(await send(get(line, host, "Connection: close")), 400);
    expect(handled()).toEqual([]);
  });

  test.each([
    "vault",
    "vault:18001",
    "my_vault.svc",
    "10.0.0.1:80",
    "[::1]:18001",
    "[fe80::1%25a]",
  ])("the host %s is one", async (host) => {
    const text = get("GET /v1/profile HTTP/1.1", `Host: ${host}`, "Connection: close");
    expect((await send(text)).map((one) => one.status)).toEqual([200]);
  });

  test.each([
    ["GET http://vault/v1/profile HTTP/1.1", "Host: vault", 200],
    ["GET HTTP://Vault:18001/v1/profile HTTP/1.1", "Host: vault:18001", 200],
    ["GET http://10.0.0.1:80/v1/profile HTTP/1.1", "Host: 10.0.0.1:80", 200],
    ["GET http://vault/v1/nothing HTTP/1.1", "Host: vault", 404],
    ["GET http://vault HTTP/1.1", "Host: vault", 404],
    ["GET http://vault?a=b HTTP/1.1", "Host: vault", 404],
    ["GET http://vault/healthz HTTP/1.1", "Host: vault", 200],
    ["OPTIONS http://vault HTTP/1.1", "Host: vault", 204],
  ])("the absolute form of the own host is served: %s", async (line, host, status) => {
    expect((await send(get(line, host, "Connection: close"))).map((one) => one.status)).toEqual([
      status,
    ]);
  });

  test("an HTTP/1.0 request in absolute form needs a Host header to compare", async () => {
    expectRefused(await send(get("GET http://vault/v1/profile HTTP/1.0")), 400);
    expect(handled()).toEqual([]);
  });

  test("40 CONNECT opens no tunnel", async () => {
    for (const target of ["vault:80", "/v1/profile"]) {
      expect(await send(get(`CONNECT ${target} HTTP/1.1`, "Host: vault") + smuggled)).toEqual([]);
    }
    expect(handled()).toEqual([]);
  });
});

describe("40 other versions, and upgrades to them", () => {
  test.each([
    ["40 a version in lower case", "GET /v1/profile http/1.1"],
    ["40 a space after the version", "GET /v1/profile HTTP/1.1 "],
    ["40 another minor version", "GET /v1/profile HTTP/1.2"],
    ["40 a version of two digits", "GET /v1/profile HTTP/01.1"],
    ["40 a tab for a space", "GET\t/v1/profile HTTP/1.1"],
    ["40 a space in the target", "GET /v1/pro file HTTP/1.1"],
    ["40 a space before the method", " GET /v1/profile HTTP/1.1"],
    ["40 the preface of HTTP/2", "PRI * HTTP/2.0"],
    ["40 a response", "HTTP/1.1 200 OK"],
  ])("%s is refused", async (_title, line) => {
    expectRefused(await send(get(line, "Host: vault") + smuggled), 400);
    expect(handled()).toEqual([]);
  });

  test.each([
    ["40 only LF at the ends of lines", smuggled.replaceAll("\r\n", "\n")],
    ["40 only CR at the ends of lines", smuggled.replaceAll("\r\n", "\r")],
    ["40 LF after the last line", smuggled.slice(0, -2).concat("\n")],
  ])("%s is refused", async (_title, text) => {
    expectRefused(await send(text + smuggled), 400);
    expect(handled()).toEqual([]);
  });

  test.each(["h2c", "websocket", "TLS/1.3, HTTP/2"])(
    "40 an upgrade to %s is ignored",
    async (protocol) => {
      const fields = ["Host: vault", "Connection: Upgrade, HTTP2-Settings", `Upgrade: ${protocol}`];
      const [response] = await send(get("GET /v1/profile HTTP/1.1", ...fields));
      expect(response?.status).toBe(200);
      expect(headerOf(response as RawResponse, "upgrade")).toBeUndefined();
    },
  );

  test("40 HTTP/1.0 is kept alive only on request, and each request has its own caller", async () => {
    const nobody = lines("GET /v1/profile HTTP/1.0", "Connection: keep-alive");
    const first = get("GET /v1/profile HTTP/1.0", "Connection: keep-alive");
    const responses = await send(first + nobody + get("GET /v1/profile HTTP/1.0"));
    expect(responses.map((one) => one.status)).toEqual([200, 401, 200]);
  });

  test.each([
    ["40 the client declares it the last", "HTTP/1.1", "Connection: close"],
    ["40 it is of HTTP/1.0", "HTTP/1.0", "X-A: b"],
  ])("what follows a request is not served where %s", async (_title, version, field) => {
    const first = get(`GET /v1/profile ${version}`, "Host: vault", field);
    for (const rest of [smuggled, "\0junk", smuggled.repeat(100)]) {
      world.handled.length = 0;
      const responses = await send(first + rest);
      expect(responses.map((one) => one.status)).toEqual([200]);
      expect(handled()).toEqual(["GetProfile"]);
    }
  });

  test("40 an invalid request between others ends the connection", async () => {
    const text = get("GET /v1/profile HTTP/1.1", "Host: vault");
    const responses = await send(`${text}GET /v1/pro file HTTP/1.1\r\n\r\n${smuggled}`);
    expect(responses.length).toBeLessThanOrEqual(1);
    expect(handled()).not.toContain("GetDocument");
  });
});
