/** Identities and objects in unexpected places, or in two places. */
import { create, toBinary } from "@bufbuild/protobuf";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { UpdateDocumentRequestSchema } from "../fixture/gen/acme/vault/v1/vault_pb.ts";
import { frame, rawCall } from "../grpc/support/raw-call.ts";
import { INTERNAL_TOKEN } from "../support/vault-server.ts";
import { ALICE } from "./support/alice.ts";
import { laxSession, metadataOf } from "./support/lax-session.ts";
import { type Field, requestText, sendText } from "./support/raw-http.ts";
import { expectRows } from "./support/send.ts";
import { startWorld, type World } from "./support/world.ts";

const SERVICE = "/acme.vault.v1.VaultService";
const JSON_TYPE: Field = ["Content-Type", "application/json"];

let world: World;
beforeAll(async () => {
  world = await startWorld({ mode: "gateway_trusted" });
});
afterAll(() => world.stop());
beforeEach(() => void (world.handled.length = 0));

describe("after the body", () => {
  test("trailers of HTTP/1 are not headers", async () => {
    const trailers = `X-Svc-Auth-Verified: true\r\nX-Svc-User-Id: alice\r\nX-Svc-Internal-Token: ${INTERNAL_TOKEN}`;
    for (const line of ["PUT /v1/documents/open", "POST /v1/documents:reconcile"]) {
      const fields: Field[] = [
        JSON_TYPE,
        ["Transfer-Encoding", "chunked"],
        ["Trailer", "X-Svc-Auth-Verified, X-Svc-User-Id, X-Svc-Internal-Token"],
      ];
      const text = requestText(line, fields, `2\r\n{}\r\n0\r\n${trailers}\r\n\r\n`);
      expect((await sendText(world.port("http", "trusted"), text))[0]?.status).toBe(401);
    }
    expect(world.handled).toEqual([]);
  });

  test("trailers of HTTP/2 are not metadata", async () => {
    const session = laxSession(world.port("grpc", "trusted"));
    const trailers = {
      "x-svc-auth-verified": "true",
      "x-svc-user-id": "alice",
      "x-svc-internal-token": INTERNAL_TOKEN,
    };
    for (const rpc of ["GetProfile", "Reconcile", "Converse"]) {
      const headers = {
        ":method": "POST",
        ":path": `${SERVICE}/${rpc}`,
        "content-type": "application/grpc",
        te: "trailers",
      };
      const stream = session.request(headers, { waitForTrailers: true });
      stream.on("wantTrailers", () => stream.sendTrailers(trailers));
      const status = await new Promise((resolve) => {
        stream.on("response", (head) => head["grpc-status"] && resolve(head["grpc-status"]));
        stream.on("trailers", (end) => resolve(end["grpc-status"]));
        stream.on("error", resolve);
        stream.resume().end(frame(Buffer.alloc(0)));
      });
      expect(status).toBe("16");
    }
    session.destroy();
    expect(world.handled).toEqual([]);
  });
});

describe("the internal token", () => {
  const ELSEWHERE: Readonly<Record<string, readonly Field[]>> = {
    "in a cookie": [["Cookie", `X-Svc-Internal-Token=${INTERNAL_TOKEN}`]],
    "as another credential": [["Proxy-Authorization", `Bearer ${INTERNAL_TOKEN}`]],
    "as the password of Basic": [["Authorization", `Basic ${btoa(`hub:${INTERNAL_TOKEN}`)}`]],
    "as a scheme": [["Authorization", `X-Svc-Internal-Token ${INTERNAL_TOKEN}`]],
    "with quotes": [["X-Svc-Internal-Token", `"${INTERNAL_TOKEN}"`]],
    "with its scheme": [["X-Svc-Internal-Token", `Bearer ${INTERNAL_TOKEN}`]],
    "with the name of its service": [["X-Svc-Internal-Token", `hub:${INTERNAL_TOKEN}`]],
    "in base64": [["X-Svc-Internal-Token", btoa(INTERNAL_TOKEN)]],
    "percent-encoded": [
      ["X-Svc-Internal-Token", INTERNAL_TOKEN.replace("-", "%2D").replace("t", "%74")],
    ],
    "in other case": [["X-Svc-Internal-Token", INTERNAL_TOKEN.toUpperCase()]],
    "as the system's by a second name": [["X-Svc-System-Token", INTERNAL_TOKEN]],
  };
  test.each(Object.entries(ELSEWHERE))("%s is not accepted", async (_title, fields) => {
    await expectRows(world, "- 401 401 401 401", { fields });
  });

  test("in the query, or with white space in metadata, is not accepted", async () => {
    const query = `?X-Svc-Internal-Token=${INTERNAL_TOKEN}`;
    const text = requestText(`POST /v1/documents:reconcile${query}`, [JSON_TYPE], "{}");
    expect((await sendText(world.port("http", "stranger"), text))[0]?.status).toBe(401);
    const session = laxSession(world.port("grpc", "stranger"));
    for (const token of [` ${INTERNAL_TOKEN}`, `${INTERNAL_TOKEN} `, `\t${INTERNAL_TOKEN}`]) {
      const headers = { "x-svc-internal-token": token };
      const answer = await rawCall(
        session,
        `${SERVICE}/Reconcile`,
        headers,
        frame(Buffer.alloc(0)),
      );
      expect(answer.grpcStatus).toBe(16);
    }
    const asked = await rawCall(
      session,
      `${SERVICE}/Reconcile${query}`,
      {},
      frame(Buffer.alloc(0)),
    );
    expect(asked.grpcStatus).toBe(12);
    session.destroy();
    expect(world.handled).toEqual([]);
  });
});

describe("one message with two objects [AUTHZ-5]", () => {
  const update = (documentId: string) =>
    toBinary(
      UpdateDocumentRequestSchema,
      create(UpdateDocumentRequestSchema, { documentId, text: "x" }),
    );
  const call = async (...parts: Uint8Array[]) => {
    const session = laxSession(world.port("grpc", "trusted"));
    const body = frame(Buffer.concat(parts));
    const answer = await rawCall(session, `${SERVICE}/UpdateDocument`, metadataOf(ALICE), body);
    session.destroy();
    const handled = world.handled.map(
      ({ request }) => (request as { documentId: string }).documentId,
    );
    return [answer.grpcStatus, ...handled];
  };

  test("is checked and handled with the same object, in any order", async () => {
    expect(await call(update("open"), update("closed"))).toEqual([7]);
    expect(await call(update("closed"), update("open"))).toEqual([0, "open"]);
  });

  test("is refused if one of them has another wire type, is truncated or not UTF-8", async () => {
    const open = update("open");
    expect(await call(open, Uint8Array.of(0x08, 0x01))).toEqual([3]);
    expect(await call(open, Uint8Array.of(0x0a, 0x20, 0x63))).toEqual([3]);
    expect(await call(open, Uint8Array.of(0x0a, 0x02, 0xc0, 0xaf))).toEqual([3]);
    expect(await call(open, Uint8Array.of(0x0a, 0x03, 0xed, 0xa0, 0x80))).toEqual([3]);
    expect(await call(open, Uint8Array.of(0x0b))).toEqual([3]);
  });

  test("as a second message is refused before anything is checked", async () => {
    const session = laxSession(world.port("grpc", "trusted"));
    const body = Buffer.concat([frame(update("open")), frame(update("closed"))]);
    const answer = await rawCall(session, `${SERVICE}/UpdateDocument`, metadataOf(ALICE), body);
    session.destroy();
    expect(answer).toMatchObject({ grpcStatus: 12, reason: "INVALID_ARGUMENT" });
    expect(world.handled).toEqual([]);
  });
});

describe("an id that resembles another one [AUTHZ-6]", () => {
  test.each([
    ["a zero-width space", "open%E2%80%8B"],
    ["a zero-width joiner", "op%E2%80%8Den"],
    ["a soft hyphen", "op%C2%ADen"],
    ["a similar letter", "%D0%BEpen"],
    ["a full-width letter", "%EF%BD%8Fpen"],
    ["a combining mark", "open%CC%81"],
    ["the decomposed form", "e%CC%81"],
    ["upper case", "OPEN"],
    ["a slash after", "open%2F"],
    ["a colon after", "open%3A"],
    ["a dot after", "open."],
    ["a type before", "document%3Aopen"],
    ["a relation after a colon", "open%3Aviewer"],
    ["an at sign", "open%40user%3Aalice"],
  ])("by %s is another object", async (_title, id) => {
    const text = requestText(`GET /v1/documents/${id}`, ALICE);
    expect((await sendText(world.port("http", "trusted"), text))[0]?.status).toBe(403);
  });

  test.each([
    ["a member set", "open%23viewer"],
    ["every object", "%2A"],
    ["a wildcard within", "o%2A"],
    ["a space", "open%20"],
    ["a no-break space", "open%C2%A0"],
    ["an ideographic space", "open%E3%80%80"],
    ["a byte order mark", "open%EF%BB%BF"],
    ["a next line", "open%C2%85"],
    ["a NUL", "open%00"],
    ["a DEL", "open%7F"],
    ["257 bytes", "a".repeat(257)],
    ["258 bytes in 86 characters", "%E6%BC%A2".repeat(86)],
  ])("by %s is not an object", async (_title, id) => {
    const text = requestText(`GET /v1/documents/${id}`, ALICE);
    expect((await sendText(world.port("http", "trusted"), text))[0]?.status).toBe(400);
  });

  test("may have up to 256 bytes", async () => {
    const text = requestText(`GET /v1/documents/${"%E6%BC%A2".repeat(85)}a`, ALICE);
    expect((await sendText(world.port("http", "trusted"), text))[0]?.status).toBe(403);
  });
});
