/** gRPC calls that no client library makes. */
import type { ClientHttp2Session, OutgoingHttpHeaders } from "node:http2";
import { gzipSync } from "node:zlib";
import { create, toBinary } from "@bufbuild/protobuf";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { targetOf } from "../../access-table/call.ts";
import { UpdateDocumentRequestSchema } from "../../fixture/gen/acme/vault/v1/vault_pb.ts";
import { frame, rawCall } from "../../grpc/support/raw-call.ts";
import { laxSession } from "../support/lax-session.ts";
import { startWorld, type World } from "../support/world.ts";

const SERVICE = "/acme.vault.v1.VaultService";
const MAX = 64 * 1024;
const ALICE: OutgoingHttpHeaders = { "x-svc-auth-verified": "true", "x-svc-user-id": "alice" };
const profile = targetOf("AUTHENTICATED");
const document = targetOf("AUTHORIZED, allowed");

let world: World;
let session: ClientHttp2Session;
beforeAll(async () => {
  const address = { address: "127.0.0.1:0" };
  const config = { server: { http: address, grpc: { ...address, max_message_bytes: MAX } } };
  world = await startWorld({ mode: "gateway_trusted", config });
});
afterAll(() => world.stop());
beforeEach(() => {
  world.handled.length = 0;
  session = laxSession(world.port("grpc", "trusted"));
});
afterEach(() => session.destroy());

describe("37 paths that are not RPCs", () => {
  test.each([
    ["37 without a slash", `${SERVICE.slice(1)}/GetProfile`],
    ["37 two slashes", `/${SERVICE}/GetProfile`],
    ["37 a slash after", `${SERVICE}/GetProfile/`],
    ["37 dots", `/x/..${SERVICE}/GetProfile`],
    ["37 an encoded slash", `${SERVICE}%2FGetProfile`],
    ["37 a query", `${SERVICE}/GetProfile?x-svc-user-id=alice`],
    ["37 a parameter", `${SERVICE}/GetProfile;x`],
    ["37 letter case", `${SERVICE}/getProfile`],
    ["37 a NUL", `${SERVICE}/GetProfile\0`],
    ["37 another service", "/acme.vault.v1.AdminService/GetProfile"],
    ["37 the HTTP path", "/v1/profile"],
    ["37 a star", "*"],
    ["37 nothing", ""],
  ])("%s", async (_title, path) => {
    const answer = await rawCall(session, path, ALICE, frame(profile.message)).catch(
      () => undefined,
    );
    if (answer?.grpcStatus !== undefined)
      expect(answer).toMatchObject({ grpcStatus: 12, reason: "UNIMPLEMENTED" });
    expect(world.handled).toEqual([]);
  });
});

describe("38 requests that are not gRPC", () => {
  test.each([
    ["38 JSON", { "content-type": "application/json" }, 415],
    ["38 gRPC-Web", { "content-type": "application/grpc-web+proto" }, 415],
    ["38 a type with the same prefix", { "content-type": "application/grpcx" }, 415],
    ["38 two types", { "content-type": ["application/grpc", "application/json"] }, undefined],
    ["8 OPTIONS", { ":method": "OPTIONS" }, 405],
    ["8 PUT", { ":method": "PUT" }, 405],
  ] as [string, OutgoingHttpHeaders, number | undefined][])(
    "%s runs nothing",
    async (_title, headers, status) => {
      const answer = await rawCall(
        session,
        profile.rpc,
        { ...ALICE, ...headers },
        frame(profile.message),
      );
      if (status !== undefined) expect(answer.httpStatus).toBe(status);
      else expect([0, 200, 400, 415]).toContain(answer.httpStatus);
      if (answer.grpcStatus !== 0) expect(world.handled).toEqual([]);
      if (status !== undefined) expect(world.handled).toEqual([]);
    },
  );
});

describe("39 malformed calls are refused", () => {
  const INVALID = { grpcStatus: 3, reason: "INVALID_ARGUMENT" };
  // The refusals of grpc-js itself have no reason.
  const LARGE = { grpcStatus: 8 };
  test.each([
    ["39 a timeout without a unit", { "grpc-timeout": "1" }, undefined, INVALID],
    ["39 a negative timeout", { "grpc-timeout": "-1S" }, undefined, INVALID],
    ["39 a timeout of nine digits", { "grpc-timeout": "999999999S" }, undefined, INVALID],
    ["39 two timeouts", { "grpc-timeout": ["1S", "9H"] }, undefined, INVALID],
    ["39 a timeout of 0", { "grpc-timeout": "0n" }, undefined, { grpcStatus: 4 }],
    ["39 an unknown encoding", { "grpc-encoding": "br" }, undefined, { grpcStatus: 12 }],
    ["39 two encodings", { "grpc-encoding": ["gzip", "identity"] }, undefined, INVALID],
    ["39 a frame over the limit", {}, frame(Buffer.alloc(MAX + 1)), LARGE],
    ["39 a frame that declares 4 GiB", {}, frame(Buffer.alloc(8), 0, 0xffff_ffff), LARGE],
    ["39 a bomb", { "grpc-encoding": "gzip" }, frame(gzipSync(Buffer.alloc(1e7)), 1), LARGE],
    [
      "39 compressed without an encoding",
      {},
      frame(gzipSync(document.message), 1),
      { ...INVALID, grpcStatus: 13 },
    ],
    [
      "39 two messages",
      {},
      Buffer.concat([frame(document.message), frame(document.message)]),
      { ...INVALID, grpcStatus: 12 },
    ],
    ["39 no message", {}, Buffer.alloc(0), { ...INVALID, grpcStatus: 12 }],
    ["39 half a message", {}, frame(document.message, 0, 99), INVALID],
    ["39 no protobuf", {}, frame(Buffer.from("{}")), INVALID],
    ["39 invalid UTF-8 as the id", {}, frame(Buffer.from([0x0a, 1, 0xff])), INVALID],
    ["39 an empty id", {}, frame(Buffer.alloc(0)), INVALID],
    ["39 a wildcard id", {}, frame(Buffer.from([0x0a, 1, 0x2a])), INVALID],
  ] as [string, OutgoingHttpHeaders, Buffer | undefined, object][])(
    "%s",
    async (_title, headers, body, expected) => {
      const answer = await rawCall(
        session,
        document.rpc,
        { ...ALICE, ...headers },
        body ?? frame(document.message),
      );
      expect(answer).toMatchObject(expected);
      expect(world.handled).toEqual([]);
    },
  );

  test("39 an unknown flag does not change the message", async () => {
    // grpc-js treats it as an uncompressed message.
    const answer = await rawCall(session, document.rpc, ALICE, frame(document.message, 7));
    expect([0, 3]).toContain(answer.grpcStatus);
    for (const { request } of world.handled) expect(request).toMatchObject({ documentId: "open" });
  });

  test("39 if a field occurs twice, the last one is both checked and handled", async () => {
    const one = (documentId: string, text = "") =>
      toBinary(
        UpdateDocumentRequestSchema,
        create(UpdateDocumentRequestSchema, { documentId, text }),
      );
    const call = (...parts: Uint8Array[]) =>
      rawCall(session, `${SERVICE}/UpdateDocument`, ALICE, frame(Buffer.concat(parts)));
    expect((await call(one("open"), one("closed"))).grpcStatus).toBe(7);
    expect(world.handled).toEqual([]);
    expect((await call(one("closed"), one("open"))).grpcStatus).toBe(0);
    expect(world.handled[0]?.request).toMatchObject({ documentId: "open" });
    expect((await call(one("open"), Buffer.from([0x0a, 0x00]))).grpcStatus).toBe(3);
  });
});
