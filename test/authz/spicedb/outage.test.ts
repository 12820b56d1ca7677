import { createServer, type Server, type Socket } from "node:net";
import { describe, expect, test } from "vitest";
import { createSpicedbEngine } from "../../../src/authz/spicedb/index.ts";
import { spicedbIsAbsent, startSpicedb } from "../../support/spicedb.ts";
import { until } from "../../support/until.ts";
import { engineOf, modelOf, request, SCHEMA, updates } from "./fixture.ts";
import { datastoreIsAbsent, openDatastore } from "./postgres-datastore.ts";

const asked = request("document:d#view@user:alice");
const write = { updates: updates("TOUCH", "document:d#viewer@user:alice") };

describe.skipIf(spicedbIsAbsent())("while SpiceDB stops and starts", () => {
  test("calls are UNAVAILABLE, never a decision, and work again without a restart of the client", async () => {
    const server = await startSpicedb();
    const engine = await engineOf(server, SCHEMA, 2000);
    try {
      await engine.writeSchema(SCHEMA);
      await engine.writeRelationships(write);
      let stopped = false;
      let [allowed, unavailable] = [0, 0];
      const wrong: unknown[] = [];
      const caller = async () => {
        while (!stopped) {
          const outcome = await engine.check(asked).catch((error) => error);
          if (outcome.allowed === true) allowed++;
          else unavailable++;
          const right = outcome.allowed === true || outcome.code === "UNAVAILABLE";
          if (!right) wrong.push(outcome);
        }
      };
      const callers = Promise.all([caller(), caller(), caller()]);
      const watching = (async () => {
        for await (const _ of engine.watch());
      })().catch((error) => error);
      await until("checks are answered", () => allowed >= 30);
      await server.stop();
      await until("checks fail", () => unavailable >= 9);
      stopped = true;
      await callers;
      expect(wrong).toEqual([]);
      expect(await watching).toMatchObject({ code: "UNAVAILABLE" });

      for (const call of [
        () => engine.check(asked),
        () => engine.writeRelationships(write),
        () => engine.lookupResources({ ...asked, resourceType: "document" }),
        () => engine.readRelationships({ resourceType: "document" }),
        () => engine.checkBulk([asked]),
      ]) {
        await expect(call()).rejects.toMatchObject({ name: "AuthzError", code: "UNAVAILABLE" });
      }
      expect(await engine.ready()).toMatchObject({ ready: false });

      await server.start();
      await until("SpiceDB is there again, without a schema", async () =>
        /no schema/.test((await engine.ready()).reason ?? ""),
      );
      await engine.writeSchema(SCHEMA);
      await engine.writeRelationships(write);
      expect((await engine.check(asked)).allowed).toBe(true);
    } finally {
      await engine.close();
      await server.stop();
    }
  });
});

describe.skipIf(datastoreIsAbsent())("while the database of SpiceDB stops and starts", () => {
  test("calls are UNAVAILABLE, and work again without a restart", async ({ skip }) => {
    const datastore = await openDatastore();
    skip(datastore.stop === undefined, "the server of POSTGRES_URL is not stopped");
    const server = await startSpicedb({ postgresUrl: datastore.url });
    const engine = await engineOf(server, SCHEMA, 5000);
    try {
      await engine.writeSchema(SCHEMA);
      await engine.writeRelationships(write);
      datastore.stop?.();
      for (const call of [
        () => engine.check(asked),
        () => engine.check(asked, { newest: true }),
        () => engine.writeRelationships(write),
        () => engine.lookupResources({ ...asked, resourceType: "document" }),
        () => engine.readRelationships({ resourceType: "document" }),
        () => engine.checkBulk([asked]),
      ]) {
        await expect(call()).rejects.toMatchObject({
          name: "AuthzError",
          code: expect.stringMatching(/^(UNAVAILABLE|DEADLINE_EXCEEDED)$/),
        });
      }
      datastore.start?.();
      await until("SpiceDB has its database again", async () => {
        const outcome = await engine.check(asked).catch(({ code }) => code);
        return outcome.allowed === true;
      });
    } finally {
      await engine.close();
      await server.stop();
      await datastore.remove();
    }
  });
});

describe("a server that does not answer", () => {
  const silent = async (run: (endpoint: string) => Promise<void>) => {
    const sockets = new Set<Socket>();
    const server: Server = createServer((socket) => {
      sockets.add(socket.on("error", () => undefined));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    try {
      await run(`127.0.0.1:${port}`);
    } finally {
      for (const socket of sockets) socket.destroy();
      server.close();
    }
  };
  const options = { token: "key", insecure: true, model: modelOf(SCHEMA) };

  test("makes calls DEADLINE_EXCEEDED in time, and CANCELLED at once", () =>
    silent(async (endpoint) => {
      const engine = await createSpicedbEngine({ ...options, endpoint, deadlineMs: 300 });
      await expect(engine.check(asked)).rejects.toMatchObject({ code: "DEADLINE_EXCEEDED" });
      const abort = new AbortController();
      const cancelled = engine.check(asked, { signal: abort.signal });
      abort.abort();
      await expect(cancelled).rejects.toMatchObject({ code: "CANCELLED" });
      const late = engine.check(asked, { signal: AbortSignal.timeout(20) });
      await expect(late).rejects.toMatchObject({ code: "DEADLINE_EXCEEDED" });
      await engine.close();
      await expect(engine.check(asked)).rejects.toMatchObject({ code: "UNAVAILABLE" });
    }));

  test("gets no request that is never valid", async () => {
    const engine = await createSpicedbEngine({ ...options, endpoint: "127.0.0.1:1" });
    for (const text of [
      "document:a b#view@user:alice",
      "document:a#view@user:*",
      "nothing:a#view@user:alice",
      "document:a#nothing@user:alice",
      "document:a#view@nobody:alice",
      `document:${"x".repeat(257)}#view@user:alice`,
    ]) {
      await expect(engine.check(request(text))).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    }
    for (const text of [
      "document:a#view@user:alice",
      "document:a#approver@user:*",
      "document:a#approver@team:a#member",
      "document:a#viewer@team:a",
    ]) {
      const rejected = engine.writeRelationships({ updates: updates("DELETE", text) });
      await expect(rejected).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    }
    const twice = updates("TOUCH", "team:a#member@user:b", "team:a#member@user:b");
    await expect(engine.writeRelationships({ updates: twice })).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
    });
    await engine.close();
  });
});
