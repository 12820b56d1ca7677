/** Bodies that no client of Connect, gRPC-Web or gRPC on the HTTP port sends, over HTTP/1.1 and HTTP/2. */
import { gzipSync } from "node:zlib";
import { create, toBinary } from "@bufbuild/protobuf";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { targetOf, vaultCall } from "../../access-table/call.ts";
import { UpdateDocumentRequestSchema } from "../../fixture/gen/acme/vault/v1/vault_pb.ts";
import { frame } from "../../grpc/support/raw-call.ts";
import { BY_FORM, WIRES, type WireName } from "../../support/wire/protocols.ts";
import { requestOf, type WireCall } from "../../support/wire/wire-request.ts";
import { ALICE } from "../support/alice.ts";
import type { Field } from "../support/raw-http.ts";
import { BY_ALICE, callWith, withAlice } from "../support/rpc-call.ts";
import { startSmallWorld, type World } from "../support/world.ts";

const MAX = 64 * 1024;

let world: World;
beforeAll(async () => {
  world = await startSmallWorld(MAX);
});
afterAll(() => world.stop());
beforeEach(() => void (world.handled.length = 0));

const DOCUMENT = targetOf("AUTHORIZED, allowed");
const STREAM = targetOf("AUTHORIZED, stream of answers");
const { CONNECT, CONNECT_PROTO, CONNECT_JSON, WEB, GRPC } = BY_FORM;
/** The protocols of gRPC-Web whose body has the form of gRPC. */
const BINARY_WEB = WEB.filter((name) => WIRES[name].form === "grpc_web");

async function expectOutcome(
  names: readonly WireName[],
  target: WireCall,
  body: Buffer,
  answer: string,
  fields: readonly Field[] = BY_ALICE,
): Promise<void> {
  for (const name of names) {
    const isText = WIRES[name].form === "grpc_web_text";
    const sent = isText ? Buffer.from(body.toString("base64")) : body;
    expect([name, await callWith(world, name, target, { body: sent, fields })]).toEqual([
      name,
      answer,
    ]);
  }
}

/** The result of a body in every protocol with envelopes, for one message and for a stream of responses. */
const ENVELOPES: readonly [title: string, make: (message: Uint8Array) => Buffer, answer: string][] =
  [
    ["half a prefix", () => Buffer.from([0, 0]), "INVALID_ARGUMENT"],
    ["half a message", (message) => frame(message, 0, 99), "INVALID_ARGUMENT"],
    ["one over the limit", () => frame(Buffer.alloc(MAX + 1)), "PAYLOAD_TOO_LARGE"],
    ["one that declares 4 GiB", () => frame(Buffer.alloc(8), 0, 0xffff_ffff), "PAYLOAD_TOO_LARGE"],
    ["an unknown flag", (message) => frame(message, 4), "INVALID_ARGUMENT"],
    ["all flags", (message) => frame(message, 255), "INVALID_ARGUMENT"],
    ["the end of a stream of Connect", () => frame(Buffer.from("{}"), 2), "INVALID_ARGUMENT"],
    [
      "an end with metadata",
      () => frame(Buffer.from('{"metadata":{"x-svc-user-id":["alice"]}}'), 2),
      "INVALID_ARGUMENT",
    ],
    [
      "trailers of gRPC-Web",
      () => frame(Buffer.from("x-svc-user-id: alice\r\ngrpc-status: 0\r\n"), 128),
      "INVALID_ARGUMENT",
    ],
    [
      "trailers after the message",
      (message) => Buffer.concat([frame(message), frame(Buffer.from("grpc-status: 0\r\n"), 128)]),
      "INVALID_ARGUMENT",
    ],
    [
      "bytes after the message",
      (message) => Buffer.concat([frame(message), Buffer.from([0])]),
      "INVALID_ARGUMENT",
    ],
    [
      "two messages",
      (message) => Buffer.concat([frame(message), frame(message)]),
      "INVALID_ARGUMENT (12)",
    ],
    [
      "compressed without an encoding",
      (message) => frame(gzipSync(message), 1),
      "INVALID_ARGUMENT (13)",
    ],
    ["no message", () => Buffer.alloc(0), "INVALID_ARGUMENT (12)"],
  ];

describe("39 invalid envelopes", () => {
  test.each(ENVELOPES)("39 %s", async (_title, make, answer) => {
    const body = make(DOCUMENT.message);
    await expectOutcome([...WEB, ...GRPC], DOCUMENT, body, answer);
    const streamed = make(STREAM.message);
    await expectOutcome([...WEB, ...GRPC, ...CONNECT_PROTO], STREAM, streamed, answer);
    const json = make(Buffer.from(STREAM.json));
    await expectOutcome(CONNECT_JSON, STREAM, json, answer);
  });

  test("39 bombs", async () => {
    const body = frame(gzipSync(Buffer.alloc(100 * MAX)), 1);
    const grpc = withAlice(["Grpc-Encoding", "gzip"]);
    await expectOutcome([...WEB, ...GRPC], DOCUMENT, body, "PAYLOAD_TOO_LARGE", grpc);
    const connect = withAlice(["Connect-Content-Encoding", "gzip"]);
    await expectOutcome(CONNECT, STREAM, body, "PAYLOAD_TOO_LARGE", connect);
  });

  test.each<[string, string]>([
    ["a line break", "AAAA\r\nAAAA"],
    ["a space", "AAAA AAAA"],
    ["the alphabet of URLs", "____"],
    ["padding alone", "===="],
    ["padding within a group", "AA=A"],
    ["a truncated group", "AAAAAA="],
    ["a NUL", "AAAA\0AAA"],
    ["no ASCII", "AAA\u00e9"],
    ["the bytes themselves", "\0\0\0\0\u0006"],
  ])("39 base64 with %s", async (_title, text) => {
    for (const name of BY_FORM.WEB_TEXT) {
      const body = Buffer.from(text, "latin1");
      expect(await callWith(world, name, DOCUMENT, { body })).toBe("INVALID_ARGUMENT");
    }
  });
});

describe("one message with two objects", () => {
  const route = { method: "PUT", path: "/v1/documents/open", body: '{"text":"x"}' };
  const update = (documentId: string) =>
    vaultCall("UpdateDocument", route, UpdateDocumentRequestSchema, { documentId, text: "x" });
  const bytesOf = (documentId: string) =>
    toBinary(UpdateDocumentRequestSchema, create(UpdateDocumentRequestSchema, { documentId }));
  const handledIds = () =>
    world.handled.map(({ request }) => (request as { documentId: string }).documentId);

  test("is checked and handled with the same object, in any order", async () => {
    for (const name of [...CONNECT_PROTO, ...BINARY_WEB, ...GRPC]) {
      const body = (...parts: Uint8Array[]) => {
        const data = Buffer.concat(parts);
        return WIRES[name].form === "connect" ? data : frame(data);
      };
      world.handled.length = 0;
      const call = (...ids: string[]) =>
        callWith(world, name, update("open"), { body: body(...ids.map(bytesOf)) });
      expect(await call("open", "closed")).toBe("FORBIDDEN");
      expect(handledIds()).toEqual([]);
      expect(await call("closed", "open")).toBe("served");
      expect(handledIds()).toEqual(["open"]);
    }
  });

  test.each([
    ["a name twice", '{"documentId":"open","documentId":"closed"}'],
    ["a name and its alias", '{"documentId":"open","document_id":"closed"}'],
    ["the alias and its name", '{"document_id":"closed","documentId":"open"}'],
    ["a name once escaped", '{"documentId":"open","document\\u0049d":"closed"}'],
    ["__proto__", '{"documentId":"open","__proto__":{"documentId":"closed"}}'],
    ["trailing content", '{"documentId":"open"}{"documentId":"closed"}'],
    ["a byte order mark", '\ufeff{"documentId":"open"}'],
    ["a list", '[{"documentId":"open"}]'],
    ["an unknown field", '{"documentId":"open","admin":true}'],
    ["nothing", ""],
  ])("is refused as JSON: %s", async (_title, text) => {
    await expectOutcome(CONNECT_JSON, update("open"), Buffer.from(text), "INVALID_ARGUMENT");
  });

  test("ignores an object in the query: the body is used", async () => {
    for (const name of CONNECT) {
      world.handled.length = 0;
      const { path } = requestOf(WIRES[name], update("open"));
      const message = encodeURIComponent('{"documentId":"closed"}');
      const query = `?connect=v1&encoding=json&message=${message}&documentId=closed`;
      const change = { path: `${path}${query}`, fields: ALICE };
      expect(await callWith(world, name, update("open"), change)).toBe("served");
      expect(handledIds()).toEqual(["open"]);
      expect(await callWith(world, name, update("closed"), change)).toBe("FORBIDDEN");
    }
  });
});
