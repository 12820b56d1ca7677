/** Calls that are repeated with one Idempotency-Key, over HTTP and gRPC. */
import { create } from "@bufbuild/protobuf";
import { AnySchema, TimestampSchema } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import {
  ChangeMyPasswordRequestSchema,
  CreatePasswordResetLinkResponseSchema,
  CreateUserRequestSchema,
  CreateUserResponseSchema,
} from "../../../src/gen/proto/svc/iam/v1/users_pb.ts";
import { mayHoldSecret, withoutSecrets } from "../../../src/runtime/idempotency/secret-fields.ts";
import {
  type AuditEvent,
  type CallContext,
  creationId,
  ServiceError,
} from "../../../src/runtime/index.ts";
import { bindVaultService } from "../fixture/gen/acme/vault/v1/vault_server.ts";
import { vaultHandlers } from "../support/vault-handlers.ts";
import { type RunningVault, shareDocument, startVault } from "../support/vault-server.ts";

const RPC = "acme.vault.v1.VaultService/UpdateDocument";

let vault: RunningVault;
/** What the handler was called with. */
let runs: string[] = [];
let ids: string[] = [];
/** What the handler does. */
let work: (context: CallContext) => unknown;
beforeAll(async () => {
  vault = await startVault({
    idempotentRpcs: [RPC],
    bindings: [
      bindVaultService({
        ...vaultHandlers(),
        async updateDocument({ text }, context) {
          runs.push(text);
          ids.push(creationId(context));
          await work(context);
          return { echo: `${text} ${runs.length}` };
        },
      }),
    ],
    security: { authn: { mode: "gateway_trusted" } },
  });
  await shareDocument(vault.engine);
  const updates = ["viewer", "editor"].map((relation) => ({
    operation: "TOUCH" as const,
    relationship: {
      resource: { type: "document", id: "open" },
      relation,
      subject: { type: "user", id: "bob" },
    },
  }));
  await vault.engine.writeRelationships({ updates });
});
afterAll(() => vault.stop());
beforeEach(() => {
  runs = [];
  ids = [];
  work = () => undefined;
});

let keys = 0;
const newKey = () => `key-${++keys}`;

async function put(key: string | undefined, text: string, user = "alice", document = "open") {
  const response = await fetch(`http://127.0.0.1:${vault.http}/v1/documents/${document}`, {
    method: "PUT",
    headers: {
      "Content-Type": "application/json",
      "x-svc-auth-verified": "true",
      "x-svc-user-id": user,
      ...(key === undefined ? {} : { "Idempotency-Key": key }),
    },
    body: JSON.stringify({ text }),
  });
  const body = (await response.json()) as { echo?: string; code?: string };
  const { status, headers } = response;
  return { status, body, isReplayed: headers.get("idempotent-replayed") === "true", headers };
}

test.each([
  ["an empty one", ""],
  ["a long one", "k".repeat(256)],
  ["a control character", "a\tb"],
  ["one that is not ASCII", "clé"],
])("%s is refused, and nothing is done", async (_, key) => {
  expect(await put(key, "text")).toMatchObject({ status: 400, body: { code: "INVALID_ARGUMENT" } });
  expect(runs).toEqual([]);
});

test("two keys of one call are refused", async () => {
  const { request } = await import("node:http");
  const status = await new Promise((resolve) => {
    const options = {
      port: vault.http,
      path: "/v1/documents/open",
      method: "PUT",
      headers: {
        "Content-Type": "application/json",
        "x-svc-auth-verified": "true",
        "x-svc-user-id": "alice",
        "Idempotency-Key": ["one", "two"],
      },
    };
    request(options, (response) => resolve(response.resume().statusCode)).end("{}");
  });
  expect(status).toBe(400);
  expect(runs).toEqual([]);
});

test("a repeated call gets the response of the first one, and does nothing [CHAIN-5]", async () => {
  const key = newKey();
  expect(await put(key, "a")).toMatchObject({ body: { echo: "a 1" }, isReplayed: false });
  expect(await put(key, "a")).toMatchObject({ body: { echo: "a 1" }, isReplayed: true });
  // The form of the draft, which is the same key.
  expect(await put(`"${key}"`, "a")).toMatchObject({ body: { echo: "a 1" }, isReplayed: true });
  expect(runs).toEqual(["a"]);
});

test("the audit distinguishes a repeated call from one that did something", async () => {
  const key = newKey();
  const events = async () => {
    const found: AuditEvent[] = [];
    for await (const event of vault.server.audit?.export({}) ?? []) found.push(event);
    return found.map(({ type }) => type);
  };
  await put(key, "a");
  const before = await events();
  await put(key, "a");
  const after = await events();
  expect(after.slice(before.length).toSorted()).toEqual(["call.replayed", "vault.document.update"]);
});

test("without a key, each call is done", async () => {
  await put(undefined, "a");
  await put(undefined, "a");
  expect(runs).toEqual(["a", "a"]);
  expect(new Set(ids).size).toBe(2);
});

test("another request with the key is refused [CHAIN-5]", async () => {
  const key = newKey();
  await put(key, "a");
  const answer = await put(key, "b");
  expect(answer).toMatchObject({ status: 400, body: { code: "INVALID_ARGUMENT" } });
  expect(runs).toEqual(["a"]);
});

test("the key of another caller is another key", async () => {
  const key = newKey();
  await put(key, "a");
  expect(await put(key, "a", "bob")).toMatchObject({ body: { echo: "a 2" }, isReplayed: false });
});

test("a caller who may no longer do it gets no response of an earlier call [CHAIN-5]", async () => {
  const key = newKey();
  const relationship = {
    resource: { type: "document", id: "open" },
    relation: "editor",
    subject: { type: "user", id: "bob" },
  };
  expect((await put(key, "secret", "bob")).status).toBe(200);
  await vault.engine.writeRelationships({ updates: [{ operation: "DELETE", relationship }] });
  expect((await put(key, "secret", "bob")).status).toBe(403);
  await vault.engine.writeRelationships({ updates: [{ operation: "TOUCH", relationship }] });
  expect(await put(key, "secret", "bob")).toMatchObject({ status: 200, isReplayed: true });
});

test("a call while another one with the key is under way is refused with 409 [CHAIN-5]", async () => {
  const key = newKey();
  let finish: () => void = () => undefined;
  const isUnderWay = new Promise<void>((begun) => {
    work = () => {
      begun();
      return new Promise<void>((resolve) => {
        finish = resolve;
      });
    };
  });
  const first = put(key, "a");
  await isUnderWay;
  const second = await put(key, "a");
  expect(second).toMatchObject({ status: 409, body: { code: "CALL_IN_PROGRESS" } });
  expect(second.headers.get("retry-after")).toBe("1");
  finish();
  expect((await first).status).toBe(200);
  expect(await put(key, "a")).toMatchObject({ status: 200, isReplayed: true });
  expect(runs).toEqual(["a"]);
});

test("a call that was refused can be repeated with its key, also with another request", async () => {
  const key = newKey();
  work = () => {
    throw new ServiceError("INVALID_ARGUMENT", "not like this");
  };
  expect((await put(key, "a")).status).toBe(400);
  work = () => undefined;
  expect(await put(key, "b")).toMatchObject({ status: 200, isReplayed: false });
});

test("a call that has failed is done again, for the same id", async () => {
  const key = newKey();
  work = () => {
    throw new Error("it may have happened");
  };
  expect((await put(key, "a")).status).toBe(500);
  expect((await put(key, "b")).status).toBe(400);
  work = () => undefined;
  expect(await put(key, "a")).toMatchObject({ status: 200, isReplayed: false });
  expect(ids).toHaveLength(2);
  expect(ids[0]).toBe(ids[1]);
});

test.each([
  ["an RPC that is not bound", "acme.vault.v1.VaultService/Nothing", "which is not bound"],
  ["a stream", "acme.vault.v1.VaultService/WatchDocument", "which streams"],
  ["a PUBLIC RPC", "acme.vault.v1.VaultService/GetNotice", "which is PUBLIC"],
])("%s cannot take keys", async (_, rpc, problem) => {
  await expect(startVault({ idempotentRpcs: [rpc] })).rejects.toThrow(problem);
});

test("secrets are left out of the comparison, and responses with them are not kept", () => {
  const user = { username: "bob", displayName: "Bob", email: "b@example.com" };
  const request = create(CreateUserRequestSchema, { ...user, password: "secret" });
  expect(withoutSecrets(CreateUserRequestSchema, request)).toMatchObject({ ...user, password: "" });
  expect(request.password).toBe("secret");
  expect(mayHoldSecret(CreatePasswordResetLinkResponseSchema)).toBe(true);
  expect(mayHoldSecret(ChangeMyPasswordRequestSchema)).toBe(true);
  expect(mayHoldSecret(AnySchema)).toBe(true);
  expect(mayHoldSecret(CreateUserResponseSchema)).toBe(false);
  expect(mayHoldSecret(TimestampSchema)).toBe(false);
});
