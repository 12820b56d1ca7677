/** Attacks outside the numbered list: ways around limits, audit and the guard of gRPC. */
import { create, toBinary } from "@bufbuild/protobuf";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { AuditLog } from "../../../src/runtime/index.ts";
import { vaultCall } from "../access-table/call.ts";
import { KeyServer } from "../authn/jwt/key-server.ts";
import { rsaKey } from "../authn/jwt/tokens.ts";
import {
  PollDocumentRequestSchema,
  UpdateDocumentRequestSchema,
} from "../fixture/gen/acme/vault/v1/vault_pb.ts";
import { frame, rawCall } from "../grpc/support/raw-call.ts";
import { WIRE_NAMES } from "../support/wire/protocols.ts";
import { ALICE } from "./support/alice.ts";
import { laxSession, metadataOf } from "./support/lax-session.ts";
import { type Field, headerOf, requestText, sendText } from "./support/raw-http.ts";
import { callWith } from "./support/rpc-call.ts";
import { outcome } from "./support/send.ts";
import { tokenSource } from "./support/tokens.ts";
import { startWorld, type World } from "./support/world.ts";

const SERVICE = "/acme.vault.v1.VaultService";
const issuer = new KeyServer();
const key = rsaKey("one");
const { bearer } = tokenSource(() => issuer.url, key);
let world: World;

beforeEach(async () => {
  issuer.keys = [key.jwk];
  await issuer.start();
  world = await startWorld({ mode: "hybrid", issuer: issuer.url });
});
afterEach(async () => {
  await world.stop();
  await issuer.stop();
});

const http = async (
  line: string,
  fields: readonly Field[],
  from: "trusted" | "stranger" = "trusted",
) => (await sendText(world.port("http", from), requestText(line, fields)))[0];

test("the rate limit of a caller applies over every protocol and credential", async () => {
  const began = performance.now();
  const statuses: (number | undefined)[] = [];
  const poll = async (line: string, fields: readonly Field[], from?: "trusted" | "stranger") =>
    void statuses.push((await http(line, fields, from))?.status);
  const session = laxSession(world.port("grpc", "trusted"));
  const message = create(PollDocumentRequestSchema, { documentId: "open" });
  const overGrpc = async () => {
    const body = frame(toBinary(PollDocumentRequestSchema, message));
    const { grpcStatus } = await rawCall(
      session,
      `${SERVICE}/PollDocument`,
      metadataOf(ALICE),
      body,
    );
    statuses.push(grpcStatus === 8 ? 429 : 200);
  };
  // By headers or token, from other addresses, for other objects, by HEAD, over gRPC: the caller is alice.
  await poll("GET /v1/documents/open:poll", ALICE);
  await poll("HEAD /v1/documents/open:poll", ALICE);
  await overGrpc();
  await poll("GET /v1/documents/open:poll", [bearer()], "stranger");
  await poll("GET /v1/documents/closed:poll", [bearer({ jti: "2" })], "stranger");
  await poll("GET /v1/documents/open:poll", [...ALICE, ["X-Forwarded-For", "203.0.113.1"]]);
  await poll("GET /v1/documents/%6Fpen:poll", [["X-Svc-External-Sub", "alice"]]);
  await overGrpc();
  await poll("GET /v1/documents/open:poll", [...ALICE, ["X-Request-Id", "new"]]);
  const path = "/v1/documents/open:poll";
  const call = vaultCall(
    "PollDocument",
    { method: "GET", path, body: "" },
    PollDocumentRequestSchema,
    {
      documentId: "open",
    },
  );
  for (const name of WIRE_NAMES) {
    const result = await callWith(world, name, call, { fields: ALICE });
    expect(["served", "RATE_LIMITED"]).toContain(result);
    statuses.push(result === "served" ? 200 : 429);
  }
  session.destroy();
  // A burst of three, and one a second.
  const most = 3 + Math.ceil((performance.now() - began) / 1_000);
  expect(statuses.filter((status) => status !== 429).length).toBeLessThanOrEqual(most);
  const other: Field[] = [["X-Svc-External-Sub", "bob"]];
  expect((await http("GET /v1/documents/open:poll", other))?.status).toBe(403);
});

test("metadata with the internal id of another call has no effect", async () => {
  const alice = laxSession(world.port("grpc", "trusted"));
  const stranger = laxSession(world.port("grpc", "stranger"));
  // Calls of alice that wait for their message, which a stranger tries to impersonate.
  const waiting = new Array(20).fill(0).map(() => {
    const stream = alice.request({
      ":method": "POST",
      ":path": `${SERVICE}/GetProfile`,
      "content-type": "application/grpc",
      ...metadataOf(ALICE),
    });
    stream.on("error", () => undefined);
    return stream;
  });
  const answers = await Promise.all(
    new Array(50)
      .fill(0)
      .map((_, index) =>
        rawCall(
          stranger,
          `${SERVICE}/GetProfile`,
          { "svc-access-arrival": String(index) },
          frame(Buffer.alloc(0)),
        ),
      ),
  );
  expect(new Set(answers.map(({ grpcStatus }) => grpcStatus))).toEqual(new Set([16]));
  expect(world.handled).toEqual([]);
  for (const stream of waiting) stream.close(8);
  alice.destroy();
  stranger.destroy();
});

test("an interrupted or late write, or one by another method, is still audited", async () => {
  const message = create(UpdateDocumentRequestSchema, { documentId: "open", text: "x" });
  const body = frame(toBinary(UpdateDocumentRequestSchema, message));
  const session = laxSession(world.port("grpc", "trusted"));
  await rawCall(
    session,
    `${SERVICE}/UpdateDocument`,
    { ...metadataOf(ALICE), "grpc-timeout": "1u" },
    body,
  );
  await rawCall(session, `${SERVICE}/UpdateDocument`, metadataOf(ALICE), body);
  const stream = session.request({
    ":method": "POST",
    ":path": `${SERVICE}/UpdateDocument`,
    "content-type": "application/grpc",
    ...metadataOf(ALICE),
  });
  stream.on("error", () => undefined);
  stream.end(body);
  setTimeout(() => stream.close(8), 2);
  await new Promise((resolve) => stream.once("close", resolve));
  await http("POST /v1/documents/open", [...ALICE, ["X-Http-Method-Override", "PUT"]]);
  session.destroy();
  const list = async () => (await (world.vault.server.audit as AuditLog).list()).events;
  const isPending = async () => (await list()).some(({ data }) => data.state === "pending");
  await expect.poll(isPending, { message: "the events of all writes are complete" }).toBe(false);
  const events = await list();
  // No handler ran without an event with the caller and the object.
  expect(events.length).toBeGreaterThanOrEqual(world.handled.length);
  expect(world.handled.length).toBeGreaterThanOrEqual(1);
  for (const { data } of events) {
    expect(data).toMatchObject({ principal: { id: "alice" }, state: "completed" });
  }
});

test("a request id and a trace of a caller are used only if they are harmless", async () => {
  for (const [sent, isTaken] of [
    ["a-1.b:c_d", true],
    ["x".repeat(128), true],
    ["x".repeat(129), false],
    ["-a", false],
    ["a b", false],
    ['a"b', false],
    ["a;b", false],
    ["<script>", false],
    ["", false],
  ] as [string, boolean][]) {
    const response = await http("GET /v1/nothing", [["X-Request-Id", sent]]);
    expect(headerOf(response as never, "x-request-id") === sent).toBe(isTaken);
  }
  const trace = "0af7651916cd43dd8448eb211c80319c";
  for (const [sent, isTaken] of [
    [`00-${trace}-b7ad6b7169203331-01`, true],
    [`00-${trace.toUpperCase()}-b7ad6b7169203331-01`, false],
    [`00-${"0".repeat(32)}-b7ad6b7169203331-01`, false],
    [`00-${trace}-b7ad6b7169203331-01-x`, false],
    [`00-${trace}-b7ad6b7169203331-01,00-x`, false],
  ] as [string, boolean][]) {
    await outcome(world, "http", "PUBLIC", { fields: [["Traceparent", sent]] });
    const traceId = world.handled.at(-1)?.context.traceId ?? "";
    expect(traceId).toMatch(/^[0-9a-f]{32}$/);
    expect(traceId === trace).toBe(isTaken);
  }
});

test("a refusal does not disclose whether an object exists", async () => {
  const bob: Field[] = [["X-Svc-External-Sub", "bob"]];
  const refusal = async (path: string) => {
    const response = await http(`GET ${path}`, bob);
    const { message, ...rest } = JSON.parse(response?.body ?? "") as Record<string, unknown>;
    return { status: response?.status, message, code: rest["code"], details: rest["details"] };
  };
  expect(await refusal("/v1/documents/open")).toEqual(await refusal("/v1/documents/there-is-none"));
  const missing = await http("GET /v1/profile", []);
  const wrong = await http("GET /v1/profile", [["X-Svc-Internal-Token", "wrong"]]);
  expect(JSON.parse(missing?.body ?? "")).toMatchObject({ message: "missing principal" });
  expect(JSON.parse(wrong?.body ?? "")).toMatchObject({ message: "wrong internal token" });
  for (const response of [missing, wrong]) {
    expect(response?.headers.map(([name]) => name)).not.toContain("server");
    expect(response?.headers.map(([name]) => name)).not.toContain("x-powered-by");
  }
});
