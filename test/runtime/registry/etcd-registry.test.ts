import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { inspect } from "node:util";
import type { Etcd3 } from "etcd3";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { NO_EVENTS } from "../../../src/runtime/events/runtime-events.ts";
import { connectEtcd } from "../../../src/runtime/registry/etcd-client.ts";
import {
  publishRoutes,
  type RegisteredRoute,
  type RoutePublisher,
  type RouteWatch,
  watchRoutes,
} from "../../../src/runtime/registry/index.ts";
import { type EtcdServer, etcdIsAbsent, startEtcd } from "../../support/etcd.ts";
import { until } from "../../support/until.ts";
import { documentOf, entryOf } from "./documents.ts";

const PREFIX = "/svc/kernel/routes/test/";

describe.skipIf(etcdIsAbsent())("the route registry on a real etcd", () => {
  let server: EtcdServer;
  let client: Etcd3;
  const opened: (RoutePublisher | RouteWatch)[] = [];

  beforeAll(async () => {
    server = await startEtcd();
    client = connectEtcd({ endpoints: [server.endpoint] });
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((one) => one.close()));
    // A test that failed may have left etcd stopped, and the client refuses calls for a while.
    await server.start();
    await until("etcd is empty", () =>
      client
        .delete()
        .prefix("/")
        .then(
          () => true,
          () => false,
        ),
    );
  });
  afterAll(async () => {
    client?.close();
    await server?.remove();
  });

  const publish = (instance: string, methods: readonly string[], ttl = 5) => {
    const events: string[] = [];
    const publisher = publishRoutes({
      etcd: { endpoints: [server.endpoint] },
      environment: "test",
      documents: [documentOf(...methods.map((method) => entryOf(method)))],
      instance,
      leaseTtlSeconds: ttl,
      events: { ...NO_EVENTS, registry: (outcome) => void events.push(outcome) },
    });
    opened.push(publisher);
    return { publisher, events };
  };
  const watch = (graceMs = 30_000) => {
    const notified: (readonly RegisteredRoute[])[] = [];
    const bad: string[] = [];
    const watcher = watchRoutes({
      etcd: { endpoints: [server.endpoint] },
      environment: "test",
      graceMs,
      onRoutes: (routes) => void notified.push(routes),
      onBadEntry: (key, why) => void bad.push(`${key}: ${why}`),
    });
    opened.push(watcher);
    return { watcher, notified, bad };
  };
  const keys = async () => (await client.getAll().prefix(PREFIX).keys()).sort();
  const seen = (routes: readonly RegisteredRoute[]) =>
    routes.map(({ entry, instances }) => `${entry.rpc.split("/")[1]} ${instances.join(",")}`);

  test("a publisher writes one key for each RPC, and removes its own on close [REG-1]", async () => {
    const { publisher, events } = publish("one", ["Get", "List"]);
    expect(publisher.readiness()).toBe("the routes are not published yet");
    await until("the routes are published", () => publisher.readiness() === undefined);
    expect(await keys()).toEqual([
      `${PREFIX}hub/hub.v1.HubService/Get/one`,
      `${PREFIX}hub/hub.v1.HubService/List/one`,
    ]);
    const value = await client.get(`${PREFIX}hub/hub.v1.HubService/Get/one`).string();
    expect(JSON.parse(value ?? "")).toEqual(entryOf("Get"));
    const other = publish("two", ["Get"]);
    await until(
      "the routes of the other are published",
      () => other.publisher.readiness() === undefined,
    );
    await publisher.close();
    expect(await keys()).toEqual([`${PREFIX}hub/hub.v1.HubService/Get/two`]);
    expect(events).toEqual(["published"]);
  });

  test("a watcher sees the union of instances, and changes [REG-2]", async () => {
    const { watcher, notified } = watch();
    await until("the watcher has said what there is", () => notified.length > 0);
    expect(notified[0]).toEqual([]);
    const one = publish("one", ["Get", "List"]);
    publish("two", ["Get"]);
    await until(
      "the watcher sees Get one,two,List one",
      () => seen(watcher.routes).join() === "Get one,two,List one",
    );
    await one.publisher.close();
    await until("the watcher sees Get two", () => seen(watcher.routes).join() === "Get two");
    expect(watcher.routes[0]?.entry).toEqual(entryOf("Get"));
  });

  test("instances with different entries of one RPC are distinguished", async () => {
    const { watcher } = watch();
    publish("one", ["Get"]);
    const changed = publishRoutes({
      etcd: { endpoints: [server.endpoint] },
      environment: "test",
      documents: [documentOf(entryOf("Get", { exposure: "PUBLIC" }))],
      instance: "two",
      leaseTtlSeconds: 2,
    });
    opened.push(changed);
    await until("the watcher has 2 routes", () => watcher.routes.length === 2);
    expect(watcher.routes.map(({ entry }) => entry.exposure).sort()).toEqual([
      "AUTHENTICATED",
      "PUBLIC",
    ]);
  });

  test("malformed entries are ignored and reported", async () => {
    const { watcher, notified, bad } = watch();
    await until("the watcher has said what there is", () => notified.length > 0);
    const at = (rpc: string) => `${PREFIX}hub/${rpc}/x`;
    const put = (key: string, value: unknown) =>
      client.put(key).value(typeof value === "string" ? value : JSON.stringify(value));
    await put(at("hub.v1.HubService/A"), "{");
    await put(at("hub.v1.HubService/B"), "null");
    await put(at("hub.v1.HubService/C"), { ...entryOf("C"), schemaVersion: 2 });
    await put(at("hub.v1.HubService/D"), entryOf("E"));
    await put(at("hub.v1.HubService/F"), { ...entryOf("F"), exposure: "AUTHORIZED" });
    await put(at("hub.v1.HubService/G"), { ...entryOf("G"), http: [{ method: "GET", path: "x" }] });
    await put(`${PREFIX}short`, entryOf("H"));
    await put(at("hub.v1.HubService/Good"), { ...entryOf("Good"), later: "unknown" });
    await until("the watcher has a route", () => watcher.routes.length === 1);
    expect(watcher.routes[0]?.entry.rpc).toBe("hub.v1.HubService/Good");
    const why = [
      "is not JSON",
      "no",
      "version 2",
      "another route",
      "has authz",
      "http.0.path",
      "another",
    ];
    expect(bad).toHaveLength(why.length);
    for (const [index, part] of why.entries()) expect(bad[index]).toContain(part);
    // A valid entry that becomes malformed is no longer a route.
    await put(at("hub.v1.HubService/Good"), "junk");
    await until("the watcher has no route", () => watcher.routes.length === 0);
  });

  test("the entries of a killed process are removed when its lease expires", async () => {
    const { watcher, notified } = watch();
    await until("the watcher has said what there is", () => notified.length > 0);
    const script = join(import.meta.dirname, "child-publisher.ts");
    const child = spawn(process.execPath, [script, server.endpoint], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    await once(child.stdout, "data");
    await until("the watcher has 2 routes", () => watcher.routes.length === 2);
    // The lease is renewed for longer than its duration.
    await sleep(5000);
    expect(watcher.routes).toHaveLength(2);
    child.kill("SIGKILL");
    await until("the watcher has no route", () => watcher.routes.length === 0);
  });

  test("entries whose lease was revoked are published again [REG-2]", async () => {
    const { publisher, events } = publish("one", ["Get"]);
    await until("the routes are published", () => publisher.readiness() === undefined);
    const [pair] = (await client.getAll().prefix(PREFIX).exec()).kvs;
    await client.leaseClient.leaseRevoke({ ID: pair?.lease ?? "0" });
    expect(await keys()).toEqual([]);
    await until("etcd has the key", async () => (await keys()).length === 1);
    // Called once etcd has responded, after the key exists.
    await until("three events were reported", () => events.length === 3);
    expect(events).toEqual(["published", "lost", "published"]);
    expect(publisher.readiness()).toBeUndefined();
  });

  test.each(["kept", "lost"] as const)(
    "after a restart of etcd with its data %s the routes are complete",
    async (data) => {
      const { publisher, events } = publish("one", ["Get", "List"]);
      const { watcher, notified } = watch();
      // The watcher may see them before the publisher has etcd's response.
      await until(
        "the watcher has 2 routes, and they are published",
        () => watcher.routes.length === 2 && publisher.readiness() === undefined,
      );
      const before = notified.length;
      await server.stop();
      await until("the loss is reported", () => events.includes("lost"));
      // Neither ends when etcd is lost.
      expect(publisher.readiness()).toBeUndefined();
      expect(watcher.routes).toHaveLength(2);
      await server.start(data);
      await until("etcd has both keys", async () => (await keys().catch(() => [])).length === 2);
      await until("the routes are published again", () => events.at(-1) === "published");
      // Later changes are seen: the watcher uses the new etcd.
      publish("two", ["Get"]);
      await until(
        "the watcher sees Get one,two,List one",
        () => seen(watcher.routes).join() === "Get one,two,List one",
      );
      // At no time were routes missing.
      for (const routes of notified.slice(before)) expect(routes.length).toBeGreaterThanOrEqual(2);
    },
  );

  test("routes that are missing after a restart are removed after the grace period", async () => {
    const { publisher } = publish("one", ["Get"]);
    const { watcher } = watch(1500);
    await until("the watcher has a route", () => watcher.routes.length === 1);
    await server.stop();
    await publisher.close();
    await server.start("lost");
    await until("the watcher has no route", () => watcher.routes.length === 0);
  });

  test("a publisher that starts without etcd is not ready until etcd is available", async () => {
    await server.stop();
    const { publisher, events } = publish("one", ["Get"]);
    await until("a failure is reported", () => events.includes("failed"));
    expect(publisher.readiness()).toBe("the routes are not published yet");
    await server.start();
    await until("the routes are published", () => publisher.readiness() === undefined);
  });

  test("a publisher that never reached etcd can be closed", async () => {
    await server.stop();
    const { publisher } = publish("one", ["Get"]);
    await publisher.close();
    await server.start();
    expect(await keys()).toEqual([]);
  });

  test("a thousand routes are published in transactions within etcd's limits, and read back", async () => {
    const methods = Array.from({ length: 1000 }, (_, index) => `Method${index}`);
    const started = performance.now();
    const { publisher } = publish("one", methods, 10);
    publish("two", methods, 10);
    const { watcher } = watch();
    await until("the routes are published", () => publisher.readiness() === undefined);
    console.info(`1,000 routes published in ${Math.round(performance.now() - started)} ms`);
    await until("each route has two instances", () =>
      watcher.routes.every(({ instances }) => instances.length === 2),
    );
    await until("the watcher has 1000 routes", () => watcher.routes.length === 1000);
  });

  test("after a compaction of the history, all routes are read again", async () => {
    const { watcher } = watch();
    const { publisher } = publish("one", ["Get"]);
    await until(
      "the watcher has a route",
      () => watcher.routes.length === 1 && publisher.readiness() === undefined,
    );
    const { header } = await client.getAll().prefix(PREFIX).exec();
    await client.kv.compact({ revision: header.revision, physical: true });
    await server.stop();
    await server.start();
    publish("two", ["List"]);
    await until(
      "the watcher sees Get one,List two",
      () => seen(watcher.routes).join() === "Get one,List two",
    );
  });
});

describe.skipIf(etcdIsAbsent())("the route registry with user and password", () => {
  let server: EtcdServer;
  let admin: Etcd3;
  beforeAll(async () => {
    server = await startEtcd();
    admin = connectEtcd({ endpoints: [server.endpoint], username: "root", password: "topsecret" });
    const open = connectEtcd({ endpoints: [server.endpoint] });
    await open.auth.userAdd({ name: "root", password: "topsecret" });
    await open.auth.roleAdd({ name: "root" });
    await open.auth.userGrantRole({ user: "root", role: "root" });
    await open.auth.authEnable();
    open.close();
  });
  afterAll(async () => {
    admin?.close();
    await server?.remove();
  });

  const publisherOf = (password: string, logged: string[] = []) =>
    publishRoutes({
      etcd: { endpoints: [server.endpoint], username: "root", password },
      environment: "test",
      documents: [documentOf(entryOf("Get"))],
      leaseTtlSeconds: 2,
      logger: {
        debug: () => undefined,
        info: () => undefined,
        warn: (fields, message) => void logged.push(`${message} ${inspect(fields, { depth: 9 })}`),
        error: () => undefined,
      },
    });

  test("is written with valid credentials, even after etcd forgot the token", async () => {
    const publisher = publisherOf("topsecret");
    await until("the routes are published", () => publisher.readiness() === undefined);
    await server.stop();
    await server.start();
    await sleep(1000);
    await until(
      "etcd has the key",
      async () => (await admin.getAll().prefix(PREFIX).keys()).length === 1,
    );
    await publisher.close();
    expect(await admin.getAll().prefix(PREFIX).keys()).toEqual([]);
  });

  test("is not written with a wrong password, and the error does not contain it", async () => {
    const logged: string[] = [];
    const publisher = publisherOf("wrongpassword", logged);
    await until("a line is logged", () => logged.length > 0);
    expect(publisher.readiness()).toBeDefined();
    expect(logged.join()).not.toContain("wrongpassword");
    await publisher.close();
  });
});
