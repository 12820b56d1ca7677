/** Bodies that are not JSON, or have a field twice. The authorized object is the handled one. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { INTERNAL_TOKEN } from "../support/vault-server.ts";
import { ALICE } from "./support/alice.ts";
import { type Field, headerOf, requestText, sendText } from "./support/raw-http.ts";
import { expectErrorBody, startWorld, type World } from "./support/world.ts";

let world: World;
beforeAll(async () => {
  world = await startWorld({ mode: "gateway_trusted" });
});
afterAll(() => world.stop());
beforeEach(() => void (world.handled.length = 0));

const JSON_TYPE: Field = ["Content-Type", "application/json"];

async function put(
  body: string,
  fields: readonly Field[] = [JSON_TYPE],
  path = "/v1/documents/open",
) {
  const text = requestText(`PUT ${path}`, [...ALICE, ...fields], body);
  const [response, ...others] = await sendText(world.port("http", "trusted"), text);
  expect(others).toEqual([]);
  const status = response?.status ?? 0;
  if (response !== undefined && status >= 400) {
    expectErrorBody(response.body, status, headerOf(response, "x-request-id"));
  }
  expect(status === 200).toBe(world.handled.length === 1);
  return status;
}

describe("38 content types", () => {
  test.each([
    ["38 none", []],
    ["38 text", [["Content-Type", "text/plain"]]],
    ["38 a form", [["Content-Type", "application/x-www-form-urlencoded"]]],
    ["38 a form of parts", [["Content-Type", "multipart/form-data; boundary=x"]]],
    ["38 a type with the same prefix", [["Content-Type", "application/jsonp"]]],
    ["38 a suffix", [["Content-Type", "application/problem+json"]]],
    ["38 two types joined", [["Content-Type", "application/json, text/plain"]]],
    ["38 two headers", [JSON_TYPE, JSON_TYPE]],
    ["38 UTF-16", [["Content-Type", "application/json; charset=utf-16"]]],
    ["38 junk", [["Content-Type", "\u00ff;;"]]],
    ["38 gRPC", [["Content-Type", "application/grpc"]]],
    ["38 compressed", [JSON_TYPE, ["Content-Encoding", "gzip"]]],
    [
      "38 compressed twice",
      [JSON_TYPE, ["Content-Encoding", "identity"], ["Content-Encoding", "br"]],
    ],
  ] as [string, Field[]][])("%s is 415", async (_title, fields) => {
    expect(await put('{"text":"x"}', fields)).toBe(415);
  });

  test("38 a body is refused if the RPC has none", async () => {
    for (const fields of [[JSON_TYPE], []]) {
      const text = requestText("GET /v1/documents/open", [...ALICE, ...fields], "{}");
      expect((await sendText(world.port("http", "trusted"), text))[0]?.status).toBe(400);
    }
    expect(world.handled).toEqual([]);
  });
});

describe("bodies that are refused", () => {
  test.each([
    ["cut off", '{"text":"x'],
    ["trailing content", '{"text":"x"} {}'],
    ["a comment", '{"text":"x"/**/}'],
    ["a single quote", "{'text':'x'}"],
    ["NaN", '{"text":NaN}'],
    ["an array", "[]"],
    ["a text", '"x"'],
    ["null", "null"],
    ["a byte order mark", '\u00ef\u00bb\u00bf{"text":"x"}'],
    ["invalid UTF-8", '{"text":"\u00ff"}'],
    ["overlong UTF-8", '{"text":"\u00c0\u00af"}'],
    ["an encoded surrogate", '{"text":"\u00ed\u00a0\u0080"}'],
    ["a key twice", '{"text":"x","text":"y"}'],
    ["a key twice, once escaped", '{"text":"x","te\\u0078t":"y"}'],
    ["an unknown key", '{"text":"x","admin":true}'],
    ["__proto__", '{"__proto__":{"text":"x"}}'],
    ["constructor", '{"constructor":{"prototype":{}}}'],
    ["a wrong kind", '{"text":1}'],
    ["an object for a text", '{"text":{"toString":"x"}}'],
    ["nested too deeply", `{"text":${"[".repeat(50_000)}${"]".repeat(50_000)}}`],
    ["one name and its alias", '{"document_id":"open","documentId":"closed"}'],
    ["its alias and the name", '{"documentId":"closed","document_id":"open"}'],
    ["another object than the path", '{"document_id":"closed"}'],
    ["another object by its JSON name", '{"documentId":"closed"}'],
  ])("%s is 400", async (_title, body) => {
    expect(await put(body)).toBe(400);
  });

  test("the object of the path is checked and handled, whatever the body contains [AUTHZ-5]", async () => {
    expect(await put('{"document_id":"open","text":"x"}')).toBe(200);
    world.handled.length = 0;
    expect(
      await put('{"document_id":"open","text":"x"}', [JSON_TYPE], "/v1/documents/closed"),
    ).toBe(400);
    expect(await put('{"text":"x"}', [JSON_TYPE], "/v1/documents/closed")).toBe(403);
    expect(await put('{"document_id":null,"text":"x"}', [JSON_TYPE], "/v1/documents/closed")).toBe(
      403,
    );
    expect(
      await put('{"document_id":"","text":"x"}', [JSON_TYPE], "/v1/documents/closed"),
    ).not.toBe(200);
    expect(await put("{}", [JSON_TYPE], "/v1/documents/open?document_id=closed")).toBe(400);
    expect(await put("{}", [JSON_TYPE], "/v1/documents/closed?documentId=open")).toBe(400);
  });

  test("a query cannot replace an object of the path, in any spelling", async () => {
    for (const query of [
      "document_id=closed",
      "documentId=closed",
      "document%5Fid=closed",
      "document_id=open",
      "document_id",
      "?document_id=closed",
      "document_id[]=closed",
      "x=1",
    ]) {
      const text = requestText(`GET /v1/documents/open?${query}`, ALICE);
      expect((await sendText(world.port("http", "trusted"), text))[0]?.status).toBe(400);
    }
    expect(world.handled).toEqual([]);
  });

  test("a lone surrogate in a text is not an error of the server", async () => {
    const status = await put('{"text":"\\ud800"}');
    expect([200, 400]).toContain(status);
  });

  test.each([
    "1e999",
    "1.5",
    "2147483648",
    "-2147483649",
    "01",
    "+1",
    "1_0",
    " 1",
    "0x1",
    "",
    "Infinity",
    "1e2147483648",
  ])("a number %j in a query is 400", async (number) => {
    const query = encodeURIComponent(number);
    const text = requestText(`GET /v1/documents/open:watch?count=${query}`, ALICE);
    expect((await sendText(world.port("http", "trusted"), text))[0]?.status).toBe(400);
    expect(world.handled).toEqual([]);
  });

  test("a duplicate parameter is 400", async () => {
    for (const query of ["count=1&count=2", "count=1&count=1", "count=1&c%6funt=2"]) {
      const text = requestText(`GET /v1/documents/open:watch?${query}`, ALICE);
      expect((await sendText(world.port("http", "trusted"), text))[0]?.status).toBe(400);
    }
  });
});

test("an unauthorized caller is refused before the body is checked", async () => {
  for (const body of ["{", "x".repeat(100), '{"a":1,"a":2}']) {
    for (const fields of [[], [JSON_TYPE]] as Field[][]) {
      const text = requestText("POST /v1/documents:reconcile", fields, body);
      expect((await sendText(world.port("http", "stranger"), text))[0]?.status).toBe(401);
      const known = requestText(
        "POST /v1/documents:reconcile",
        [...fields, ["X-Svc-Internal-Token", INTERNAL_TOKEN]],
        body,
      );
      const status = (await sendText(world.port("http", "stranger"), known))[0]?.status;
      expect(status).toBe(fields.length === 0 ? 415 : 400);
    }
  }
  expect(world.handled).toEqual([]);
});
