import { afterAll, beforeAll, expect, test } from "vitest";
import { BufCurl } from "./support/buf-curl.ts";
import { CountingCaller } from "./support/caller.ts";
import { HubProcesses } from "./support/hub-process.ts";
import { ROUTES } from "./support/routes.ts";
import { tellStory } from "./support/story.ts";

let processes: HubProcesses;
let buf: BufCurl;

beforeAll(async () => {
  processes = await HubProcesses.start();
  buf = new BufCurl(processes.grpc);
});
afterAll(() => processes?.remove());

test("buf curl lists every RPC", async () => {
  // Besides health and reflection, which are no RPCs of the hub.
  const own = (await buf.methods()).filter((rpc) => !rpc.startsWith("grpc."));
  expect(own.sort()).toEqual(ROUTES.map(({ rpc }) => rpc).sort());
});

test("buf curl calls every RPC", async () => {
  const caller = new CountingCaller(buf);
  // The other clients are quick enough for all strangers.
  await tellStory(caller, processes.data, ["mallory"]);
  expect([...caller.succeeded].sort()).toEqual(ROUTES.map(({ rpc }) => rpc).sort());
});

test("without flags it calls the HTTP port, by Connect", async () => {
  const plain = new BufCurl(new URL(processes.http).host, ["curl"]);
  const listed = (await plain.methods()).filter((rpc) => !rpc.startsWith("grpc."));
  expect(listed.sort()).toEqual(ROUTES.map(({ rpc }) => rpc).sort());
  const { code } = await plain.call(ROUTES[0]?.rpc ?? "", {}, {});
  expect(code).toBe("ok");
});
