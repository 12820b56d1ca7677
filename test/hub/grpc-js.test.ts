import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { AS, CountingCaller } from "./support/caller.ts";
import { HubProcesses, TOKENS } from "./support/hub-process.ts";
import { ReflectionClient } from "./support/reflection-client.ts";
import { ROUTES } from "./support/routes.ts";
import { auditedIn } from "./support/stored.ts";
import { playStory } from "./support/story.ts";

let processes: HubProcesses;
let client: ReflectionClient;

beforeAll(async () => {
  processes = await HubProcesses.start();
  client = new ReflectionClient(processes.grpc);
});
afterAll(async () => {
  client?.close();
  await processes?.remove();
});

test("reflection lists every service, with the descriptors of all RPCs", async () => {
  const services = new Set(ROUTES.map(({ rpc }) => rpc.split("/")[0]));
  expect(await client.services()).toEqual(expect.arrayContaining([...services]));
  const registry = await client.registry();
  const methods = [...services].flatMap((name) => registry.getService(name ?? "")?.methods ?? []);
  expect(methods.map(({ parent, name }) => `${parent.typeName}/${name}`).sort()).toEqual(
    ROUTES.map(({ rpc }) => rpc).sort(),
  );
});

test("every RPC is called by a client that uses only reflection", async () => {
  const caller = new CountingCaller(client);
  await playStory(caller, processes.data);
  expect([...caller.succeeded].sort()).toEqual(ROUTES.map(({ rpc }) => rpc).sort());
});

test("the audit log has all calls and their callers", () => {
  const events = auditedIn(processes.data);
  const audited = ROUTES.filter((route) => "audit" in route).map(({ rpc }) => rpc);
  const rpcs = new Set(events.filter(({ code }) => code === "OK").map(({ rpc }) => rpc));
  expect([...rpcs].sort()).toEqual(audited.sort());
  expect(events).toContainEqual(
    expect.objectContaining({ type: "project.role.grant", principal: "user:alice", code: "OK" }),
  );
  expect(events).toContainEqual(
    expect.objectContaining({
      type: "project.role.grant",
      principal: "user:mallory",
      code: "FORBIDDEN",
    }),
  );
  expect(events).toContainEqual(
    expect.objectContaining({ type: "skill.package.upload", principal: "service:git", code: "OK" }),
  );
});

test("no token is in any file or line of the log", () => {
  const texts = readdirSync(processes.data).map((name) => {
    return readFileSync(join(processes.data, name), "latin1");
  });
  texts.push(processes.hub.output, processes.git.output, processes.hub.errors);
  for (const token of [...Object.values(TOKENS), AS.thief["x-svc-internal-token"]]) {
    expect(texts.filter((text) => text.includes(token))).toEqual([]);
  }
});
