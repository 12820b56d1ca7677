/** Declared paths are audited and limited by the same chain as RPCs. */
import { request } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type RawHandler, readRouteDocument } from "../../../../src/runtime/index.ts";
import { FIXTURE, type RunningVault, startVault } from "../../support/vault-server.ts";

const generated = readRouteDocument(join(FIXTURE, "gen/routes/vault.json"));
const path = { match: "exact", exposure: "PUBLIC" } as const;
const audit = { event: "hook.receive", riskLevel: "MEDIUM" } as const;
const routes = {
  ...generated,
  paths: [
    { ...path, path: "/hook", methods: ["POST"], audit },
    { ...path, path: "/limited", methods: ["GET"], audit, rateLimit: { qps: 1, burst: 2 } },
    { ...path, path: "/plain", methods: ["GET"] },
  ],
};
let openGate: () => void = () => undefined;
const gate = new Promise<void>((resolve) => (openGate = resolve));
let begun = 0;
let aborted = 0;
const rawHandlers: RawHandler[] = [
  {
    path: "/hook",
    async handle({ query }, { audit: own, signal }) {
      begun++;
      if (query.has("wait")) signal.addEventListener("abort", () => aborted++);
      if (query.has("wait")) await gate;
      if (query.has("object")) own.setResource("delivery:d1");
      return { status: query.has("refuse") ? 422 : 202 };
    },
  },
  { path: "/limited", handle: () => ({ status: 200 }) },
  { path: "/plain", handle: () => ({ status: 200 }) },
];
let vault: RunningVault;
beforeAll(async () => {
  vault = await startVault({ routes, rawHandlers });
});
afterAll(() => vault.stop());

const url = (target: string) => `http://127.0.0.1:${vault.http}${target}`;
const eventOf = async (requestId: string) =>
  (await vault.server.audit?.list({ requestId }))?.events[0];

test.each<[string, object]>([
  ["/hook", { code: "OK", status: 202 }],
  ["/hook?refuse", { code: "INVALID_ARGUMENT", status: 422 }],
  ["/hook?object", { code: "OK", status: 202, resource: "delivery:d1" }],
])("a request of %s is an event", async (target, reported) => {
  const response = await fetch(url(target), { method: "POST" });
  const event = await eventOf(response.headers.get("x-request-id") ?? "");
  expect(event?.type).toBe("hook.receive");
  expect(event?.data).toMatchObject({
    state: "completed",
    risk_level: "MEDIUM",
    rpc: "/hook",
    transport: "http",
    ...reported,
  });
});

test("a path without audit has no event", async () => {
  const response = await fetch(url("/plain"));
  expect(await eventOf(response.headers.get("x-request-id") ?? "")).toBeUndefined();
});

test("the event of a raw handler whose caller hung up has its outcome", async () => {
  const before = begun;
  const id = "hook-of-nobody";
  const outgoing = request(url("/hook?wait"), {
    method: "POST",
    headers: { "x-request-id": id },
  });
  outgoing.on("error", () => undefined).end();
  await expect.poll(() => begun, { message: "the handler begins" }).toBe(before + 1);
  outgoing.destroy();
  await expect.poll(() => aborted, { message: "the signal of the call is aborted" }).toBe(1);
  expect((await eventOf(id))?.data.state).toBe("pending");
  openGate();
  await expect
    .poll(async () => (await eventOf(id))?.data.state, {
      message: "the event has the outcome of the handler",
    })
    .toBe("completed");
  expect((await eventOf(id))?.data).toMatchObject({ code: "OK", status: 202, caller_gone: true });
});

test("the rate limit of a path applies [PLCF-3]", async () => {
  const statuses: number[] = [];
  for (let count = 0; count < 12; count++) statuses.push((await fetch(url("/limited"))).status);
  expect(statuses.slice(0, 2)).toEqual([200, 200]);
  expect(statuses).toContain(429);
});
