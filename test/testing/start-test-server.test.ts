import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { AuthorizationEngine } from "../../src/authz/engine/engine.ts";
import { startTestServer, type TestServerOptions, testEngine } from "../../src/testing/index.ts";
import { CallsOf } from "../../src/testing/test-calls.ts";
import { VaultService } from "../runtime/fixture/gen/acme/vault/v1/vault_pb.ts";
import {
  bindVaultService,
  VaultServiceRoutes,
} from "../runtime/fixture/gen/acme/vault/v1/vault_server.ts";
import { vaultHandlers } from "../runtime/support/vault-handlers.ts";
import { FIXTURE } from "../runtime/support/vault-server.ts";

const MODEL = join(FIXTURE, "model.zed");
const start = (options: TestServerOptions = {}) =>
  startTestServer(bindVaultService(vaultHandlers()), { model: MODEL, ...options });

// Of this file alone, so that the folders of other tests are not counted.
const temporary = mkdtempSync(join(tmpdir(), "svc-access-test-servers-"));
beforeAll(() => void vi.stubEnv("TMPDIR", temporary));
afterAll(() => {
  vi.unstubAllEnvs();
  rmSync(temporary, { recursive: true, force: true });
});

describe("the caller is", () => {
  test("a user, by their permissions, over both transports", async () => {
    await using server = await start({ relationships: ["document:open#viewer@user:alice"] });
    const alice = server.as({ user: "alice" });
    const bob = server.as({ user: "bob" });
    for (const client of [alice.grpc(VaultService), alice.http(VaultService, VaultServiceRoutes)]) {
      const answer = await client.getDocument({ documentId: "open" });
      expect(answer).toMatchObject({ subjectId: "alice", subjectType: "user", source: "gateway" });
    }
    for (const client of [bob.grpc(VaultService), bob.http(VaultService, VaultServiceRoutes)]) {
      await expect(client.getDocument({ documentId: "open" })).rejects.toMatchObject({
        code: "FORBIDDEN",
      });
    }
  });

  test("a service account, which holds nothing of the user with its id", async () => {
    await using server = await start({ relationships: ["document:open#viewer@user:ci"] });
    const ci = server.as({ user: "ci", subjectType: "service_account" });
    expect((await ci.fetch("/v1/profile")).status).toBe(200);
    for (const client of [ci.grpc(VaultService), ci.http(VaultService, VaultServiceRoutes)]) {
      await expect(client.getDocument({ documentId: "open" })).rejects.toMatchObject({
        code: "FORBIDDEN",
      });
    }
  });

  test("a user with groups, roles and names that are not ASCII", async () => {
    const seen: unknown[] = [];
    const handlers = vaultHandlers();
    await using server = await startTestServer(
      bindVaultService({
        ...handlers,
        async getProfile(request, context) {
          seen.push(context.principal);
          return handlers.getProfile(request, context);
        },
      }),
      { model: MODEL },
    );
    const groups = ["größe", "a,b"];
    const user = { user: "alice", name: "Ålice", organizationId: "acme", groups, roles: ["admin"] };
    expect((await server.as(user).fetch("/v1/profile")).status).toBe(200);
    expect(seen).toMatchObject([
      { subjectId: "alice", name: "Ålice", organizationId: "acme", groups, roles: ["admin"] },
    ]);
  });

  test("a service, the system or nobody", async () => {
    await using server = await start({ services: ["hub"] });
    const hub = server.as({ service: "hub" }).grpc(VaultService);
    expect(await hub.reconcile({ reason: "r" })).toMatchObject({
      subjectId: "hub",
      subjectType: "service",
    });
    await expect(hub.reset({ reason: "r" })).rejects.toMatchObject({ code: "FORBIDDEN" });
    const system = server.as("system").grpc(VaultService);
    expect(await system.reset({ reason: "r" })).toMatchObject({ source: "internal" });
    const nobody = server.as("nobody").grpc(VaultService);
    await expect(nobody.getProfile({})).rejects.toMatchObject({ code: "UNAUTHORIZED" });
    expect(await nobody.getNotice({ noticeId: "1" })).toMatchObject({ subjectId: "" });
    expect(() => server.as({ service: "git" })).toThrow('{services: ["git"]}');
  });

  test("the same for streams", async () => {
    await using server = await start({ relationships: ["document:open#viewer@user:alice"] });
    const alice = server.as({ user: "alice" }).grpc(VaultService);
    const answers = [];
    for await (const { echo } of alice.watchDocument({ documentId: "open", count: 2 })) {
      answers.push(echo);
    }
    expect(answers).toEqual(["0", "1"]);
  });
});

test("audit events are stored in order by the time their calls are answered", async () => {
  await using server = await start({ relationships: ["document:open#editor@user:alice"] });
  const alice = server.as({ user: "alice" }).grpc(VaultService);
  const bob = server.as({ user: "bob" }).grpc(VaultService);
  await alice.updateDocument({ documentId: "open", text: "1" });
  await bob.updateDocument({ documentId: "open", text: "2" }).catch(() => undefined);
  const events = await server.auditEvents();
  expect(events.map(({ data }) => [data.principal?.id, data.state, data.decision])).toEqual([
    ["alice", "completed", "allowed"],
    ["bob", "completed", "denied"],
  ]);
  expect(await server.auditEvents({ principalId: "bob" })).toHaveLength(1);
  expect(server.logLines().some(({ message }) => message === "audit")).toBe(true);
});

test("the handlers get the engine, and tests may add relationships [TEST-1]", async () => {
  const asked: unknown[] = [];
  await using server = await startTestServer(
    (engine) => {
      asked.push(engine);
      return [bindVaultService(vaultHandlers())];
    },
    { model: MODEL },
  );
  expect(asked).toEqual([server.engine]);
  const alice = server.as({ user: "alice" }).grpc(VaultService);
  await expect(alice.getDocument({ documentId: "open" })).rejects.toThrow();
  await server.relate("document:open#viewer@user:alice");
  await alice.getDocument({ documentId: "open" });
});

test("servers do not see each other's relationships and events", async () => {
  await using first = await start({ relationships: ["document:open#editor@user:alice"] });
  await using second = await start();
  await first.as({ user: "alice" }).grpc(VaultService).updateDocument({ documentId: "open" });
  expect(await second.auditEvents()).toEqual([]);
  const alice = second.as({ user: "alice" }).grpc(VaultService);
  await expect(alice.getDocument({ documentId: "open" })).rejects.toMatchObject({
    code: "FORBIDDEN",
  });
});

test("parts of the configuration may be changed or removed", async () => {
  await using server = await start({
    config: { server: { metrics: null, grpc: { reflection: false } }, log: { level: "warn" } },
  });
  expect(server.metricsUrl).toBe("");
  expect(server.grpcTarget).toMatch(/^127\.0\.0\.1:\d+$/);
  expect(server.logLines().filter(({ level }) => level === "info")).toEqual([]);
});

test("close removes the files and ends the clients, and may be called twice", async () => {
  const before = folders();
  const server = await start();
  const client = server.as("nobody").grpc(VaultService);
  await client.getNotice({ noticeId: "1" });
  const made = [...folders()].filter((name) => !before.has(name));
  expect(made.length).toBeGreaterThan(0);
  await Promise.all([server.close(), server.close()]);
  await expect(fetch(`${server.httpUrl}/v1/notices/1`)).rejects.toThrow();
  await expect(client.getNotice({ noticeId: "1" })).rejects.toThrow();
  expect(made.some((name) => existsSync(join(tmpdir(), name)))).toBe(false);
});

test.each<[string, TestServerOptions, string]>([
  ["a model that does not exist", { model: "nowhere.zed" }, "nowhere.zed does not exist"],
  [
    "a model that is wrong",
    { model: undefined as never, modelText: "definition {" },
    "model.zed:1",
  ],
  ["a model twice", { modelText: "definition user {}" }, "not both"],
  [
    "a relationship that is not one",
    { relationships: ["document:open"] },
    "is not a valid relationship",
  ],
  [
    "a relationship that the model does not have",
    { relationships: ["document:a#boss@user:b"] },
    "boss",
  ],
  ["a key that is not known", { config: { databse: {} } }, "databse"],
  ["routes that do not exist", { routes: "nowhere.json" }, "nowhere.json"],
])("%s is an error that says so, and leaves no folder", async (_, options, message) => {
  const before = folders();
  await expect(start(options)).rejects.toThrow(message);
  expect([...folders()].filter((name) => !before.has(name))).toEqual([]);
});

test("a wrong key of config is named without a position, since it has no file", async () => {
  const started = start({ config: { securty: {} } });
  await expect(started).rejects.toThrow(/^startTestServer: config: securty is not a key/);
});

test("a client that fails to close prevents neither the end of the server nor the removal of its files", async () => {
  const before = folders();
  const server = await start();
  const closed = vi.spyOn(CallsOf.prototype, "close").mockRejectedValue(new Error("stuck"));
  await expect(server.close()).rejects.toThrow("stuck");
  closed.mockRestore();
  await expect(fetch(`${server.httpUrl}/v1/notices/1`)).rejects.toThrow();
  expect([...folders()].filter((name) => !before.has(name))).toEqual([]);
  expect(await server.engine?.ready()).toMatchObject({ ready: false });
});

test("a server that fails to start leaves no engine open", async () => {
  let engine: AuthorizationEngine | undefined;
  const bind = (given: AuthorizationEngine) => {
    engine = given;
    return [bindVaultService(vaultHandlers()), bindVaultService(vaultHandlers())];
  };
  await expect(startTestServer(bind, { model: MODEL })).rejects.toThrow();
  expect(await engine?.ready()).toMatchObject({ ready: false });
});

test("handlers that request an engine get an error if there is no model", async () => {
  await expect(startTestServer(() => bindVaultService(vaultHandlers()))).rejects.toThrow(
    "set model or modelText",
  );
});

test("relationships as text may have every id that the engine accepts", async () => {
  await using engine = await testEngine({
    modelText: "definition user {}\ndefinition item {\n  relation owner: user\n}\n",
    relationships: [
      "item:first#owner@user:alice@example.com",
      {
        resource: { type: "item", id: "second" },
        relation: "owner",
        subject: { type: "user", id: "ä:b@c" },
      },
      "item:größe.txt#owner@user:ä:b@c",
    ],
  });
  const items = async (id: string) => {
    const subject = { type: "user", id };
    const asked = { resourceType: "item", permission: "owner", subject };
    return (await engine.lookupResources(asked)).items;
  };
  expect(await items("alice@example.com")).toEqual(["first"]);
  expect(await items("ä:b@c")).toEqual(["größe.txt", "second"]);
});

test("an engine without a server, for tests of handlers", async () => {
  await using engine = await testEngine({
    modelText: "definition user {}\ndefinition item {\n  relation owner: user\n}\n",
    relationships: ["item:first#owner@user:alice"],
  });
  const found = await engine.lookupResources({
    resourceType: "item",
    permission: "owner",
    subject: { type: "user", id: "alice" },
  });
  expect(found.items).toEqual(["first"]);
  await expect(testEngine({})).rejects.toThrow("set model or modelText");
});

function folders(): ReadonlySet<string> {
  return new Set(readdirSync(tmpdir()).filter((name) => name.startsWith("svc-access-testing-")));
}
