/** Connect GET: RPCs that do not allow it, and queries that no client sends. */
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { targetOf, vaultCall } from "../../access-table/call.ts";
import {
  ConverseRequestSchema,
  DumpDocumentsRequestSchema,
  GetDocumentRequestSchema,
  InspectDocumentsRequestSchema,
  SearchDocumentsRequestSchema,
  UnlockDocumentRequestSchema,
  UpdateDocumentRequestSchema,
  WatchDocumentRequestSchema,
} from "../../fixture/gen/acme/vault/v1/vault_pb.ts";
import { INTERNAL_TOKEN, SYSTEM_TOKEN } from "../../support/vault-server.ts";
import { WIRES } from "../../support/wire/protocols.ts";
import { requestOf, type WireCall } from "../../support/wire/wire-request.ts";
import { type Field, headerOf, requestText, sendText } from "../support/raw-http.ts";
import { BY_ALICE, callWith } from "../support/rpc-call.ts";
import { startWorld, type World } from "../support/world.ts";

const GET = ["connect get", "connect get over h2c"] as const;
const MAX = 8 * 1024;
const SECRET = "correct-horse-battery";

let world: World;
beforeAll(async () => {
  const http = { address: "127.0.0.1:0", max_body_bytes: MAX };
  const server = { http, grpc: { address: "127.0.0.1:0" } };
  world = await startWorld({ mode: "gateway_trusted", config: { server } });
});
afterAll(() => world.stop());

const route = { method: "GET", path: "/v1/documents/open", body: "" };
const token = (text: string): Field[] => [["X-Svc-Internal-Token", text]];
const UNLOCK = vaultCall("UnlockDocument", route, UnlockDocumentRequestSchema, {
  documentId: "open",
  passphrase: { text: SECRET },
});

describe("an RPC may not be called by GET [TRANS-3]", () => {
  test.each<[string, WireCall, readonly Field[]]>([
    [
      "that is INTERNAL",
      vaultCall("InspectDocuments", route, InspectDocumentsRequestSchema, {}),
      token(INTERNAL_TOKEN),
    ],
    [
      "that is SYSTEM",
      vaultCall("DumpDocuments", route, DumpDocumentsRequestSchema, {}),
      token(SYSTEM_TOKEN),
    ],
    ["with a debug_redact field", UNLOCK, BY_ALICE],
    [
      "without a GET binding",
      vaultCall("SearchDocuments", route, SearchDocumentsRequestSchema, { text: "x" }),
      BY_ALICE,
    ],
    [
      "that changes something",
      vaultCall("UpdateDocument", route, UpdateDocumentRequestSchema, { documentId: "open" }),
      BY_ALICE,
    ],
    [
      "with a stream of responses",
      vaultCall("WatchDocument", route, WatchDocumentRequestSchema, { documentId: "open" }),
      BY_ALICE,
    ],
    ["with streams both ways", vaultCall("Converse", route, ConverseRequestSchema, {}), BY_ALICE],
  ])("%s, but by POST", async (_title, call, fields) => {
    for (const name of GET) {
      for (const encoding of ["json", "proto"] as const) {
        const { path } = requestOf({ ...WIRES[name], codec: encoding }, call);
        expect(await callWith(world, name, call, { path, fields })).toBe("405");
        const asPost = callWith(world, name, call, { path, fields, method: "POST" });
        expect(await asPost).toBe("415");
      }
    }
    const streams = call.rpc.endsWith("WatchDocument") || call.rpc.endsWith("Converse");
    const posted = { ...call, isStreaming: streams };
    const served = call.rpc.endsWith("WatchDocument")
      ? targetOf("AUTHORIZED, stream of answers")
      : posted;
    expect(await callWith(world, "connect json", served, { fields })).toBe("served");
  });

  test("and its query is in no log line", async () => {
    for (const name of GET) await callWith(world, name, UNLOCK, {});
    const document = vaultCall("GetDocument", route, GetDocumentRequestSchema, {
      documentId: SECRET,
    });
    // The query of an allowed call is not logged either.
    for (const name of GET) await callWith(world, name, document, { fields: [] });
    await expect
      .poll(() => world.vault.lines.join(""), { message: "the log has a line of the call" })
      .toContain("VaultService/GetDocument");
    for (const line of world.vault.lines) {
      expect(line).not.toContain(SECRET);
      expect(line).not.toContain("message=");
    }
  });
});

describe("a query that no client sends", () => {
  const json = encodeURIComponent('{"documentId":"open"}');
  const closed = encodeURIComponent('{"documentId":"closed"}');
  const base64 = Buffer.from('{"documentId":"open"}').toString("base64url");
  const bomb = gzipSync(`{"documentId":"${"x".repeat(100 * MAX)}"}`).toString("base64url");
  const good = `connect=v1&encoding=json&message=${json}`;

  test.each([
    ["the message twice", `${good}&message=${closed}`, "INVALID_ARGUMENT"],
    ["the same message twice", `${good}&message=${json}`, "INVALID_ARGUMENT"],
    ["the encoding twice", `${good}&encoding=proto`, "INVALID_ARGUMENT"],
    ["the version twice", `${good}&connect=v1`, "INVALID_ARGUMENT"],
    ["base64 twice", `${good}&base64=1&base64=1`, "INVALID_ARGUMENT"],
    ["the compression twice", `${good}&compression=gzip&compression=identity`, "INVALID_ARGUMENT"],
    ["another version", `connect=v2&encoding=json&message=${json}`, "INVALID_ARGUMENT"],
    ["an empty version", `connect=&encoding=json&message=${json}`, "INVALID_ARGUMENT"],
    ["no message", "connect=v1&encoding=json", "INVALID_ARGUMENT"],
    ["base64=0", `connect=v1&encoding=json&base64=0&message=${json}`, "INVALID_ARGUMENT"],
    ["base64=true", `connect=v1&encoding=json&base64=true&message=${base64}`, "INVALID_ARGUMENT"],
    ["invalid base64", `connect=v1&encoding=json&base64=1&message=${json}`, "INVALID_ARGUMENT"],
    [
      "base64 with a space",
      `connect=v1&encoding=json&base64=1&message=${base64}+`,
      "INVALID_ARGUMENT",
    ],
    ["standard base64", "connect=v1&encoding=proto&base64=1&message=CgT%2B/w", "INVALID_ARGUMENT"],
    ["an unknown compression", `${good}&compression=br`, "UNIMPLEMENTED"],
    ["two compressions", `${good}&compression=gzip,gzip`, "UNIMPLEMENTED"],
    ["an uncompressed message", `${good}&compression=gzip`, "INVALID_ARGUMENT"],
    [
      "a bomb",
      `connect=v1&encoding=json&base64=1&compression=gzip&message=${bomb}`,
      "PAYLOAD_TOO_LARGE",
    ],
    [
      "too long a message",
      `connect=v1&encoding=json&message=${"x".repeat(MAX + 1)}`,
      "PAYLOAD_TOO_LARGE",
    ],
    ["a truncated escape", "connect=v1&encoding=json&message=%7B%7", "INVALID_ARGUMENT"],
    ["an escape of no bytes", "connect=v1&encoding=json&message=%u007B%7D", "INVALID_ARGUMENT"],
    [
      "no UTF-8",
      "connect=v1&encoding=json&message=%7B%22documentId%22:%22%FF%22%7D",
      "INVALID_ARGUMENT",
    ],
    ["an invalid object", "connect=v1&encoding=proto&message=%0A%01%2A", "INVALID_ARGUMENT"],
    ["another object", `connect=v1&encoding=json&message=${closed}`, "FORBIDDEN"],
    ["another object after escapes", good.replace("open", "%63losed"), "FORBIDDEN"],
    ["an unknown encoding", `connect=v1&encoding=xml&message=${json}`, "415"],
    ["no encoding", `connect=v1&message=${json}`, "415"],
    ["no version", `encoding=json&message=${json}`, "415"],
    ["the version's name in escapes", `%63onnect=v1&encoding=json&message=${json}`, "415"],
    ["the version in upper case", `CONNECT=v1&encoding=json&message=${json}`, "415"],
    ["semicolons", `connect=v1;encoding=json;message=${json}`, "415"],
    ["an identity", `${good}&x-svc-user-id=bob&access_token=x`, "served"],
  ])("%s", async (_title, query, answer) => {
    const document = targetOf("AUTHORIZED, allowed");
    for (const name of GET) {
      const path = `${document.rpc}?${query}`;
      expect([name, await callWith(world, name, document, { path })]).toEqual([name, answer]);
    }
  });

  test("identities in it are ignored", async () => {
    const { rpc } = targetOf("AUTHENTICATED");
    const query = `connect=v1&encoding=json&message=%7B%7D&x-svc-user-id=alice&X-Svc-Internal-Token=${INTERNAL_TOKEN}&x-svc-external-sub=alice`;
    for (const name of GET) {
      const change = { path: `${rpc}?${query}`, fields: [] };
      expect(await callWith(world, name, targetOf("AUTHENTICATED"), change)).toBe("UNAUTHORIZED");
    }
  });

  test("40 a body after it is not the next request", async () => {
    const smuggled = requestText("GET /v1/documents/open", BY_ALICE);
    const path = `${targetOf("PUBLIC").rpc}?connect=v1&encoding=json&message=%7B%7D`;
    const before = world.handled.length;
    const text = requestText(`GET ${path}`, [], smuggled, false);
    const responses = await sendText(world.port("http", "trusted"), text, 400);
    expect(responses.map(({ status }) => status)).toEqual([200]);
    const rpcs = world.handled.slice(before).map(({ rpc }) => rpc);
    expect(rpcs).toEqual(["GetNotice"]);
  });

  test("responses are not cacheable, and HEAD has no body [TRANS-3]", async () => {
    const { path } = requestOf(WIRES["connect get"], targetOf("PUBLIC"));
    for (const method of ["GET", "HEAD"]) {
      const [response] = await sendText(
        world.port("http", "stranger"),
        requestText(`${method} ${path}`, []),
      );
      expect(response?.status).toBe(200);
      expect(headerOf(response as never, "cache-control")).toBe("no-store");
      expect(headerOf(response as never, "x-content-type-options")).toBe("nosniff");
      if (method === "HEAD") expect(response?.body).toBe("");
    }
  });
});
