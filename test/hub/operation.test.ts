import { afterAll, beforeAll, expect, test } from "vitest";
import { AS } from "./support/caller.ts";
import { HubProcesses, TOKENS } from "./support/hub-process.ts";

let processes: HubProcesses;

beforeAll(async () => {
  processes = await HubProcesses.start();
});
afterAll(() => processes?.remove());

const bodyOf = async (url: string) => {
  const response = await fetch(url);
  return [response.status, await response.text()];
};

test("the probes answer on the address of the API, and metrics on their own [PLAT-5]", async () => {
  expect(await bodyOf(`${processes.http}/healthz`)).toEqual([200, '{"status":"ok"}']);
  expect(await bodyOf(`${processes.http}/readyz`)).toEqual([200, '{"status":"ready"}']);
  expect((await fetch(`${processes.http}/metrics`)).status).toBe(404);
  expect((await fetch(`${processes.metrics}/v1/authn/me`, { headers: AS.alice })).status).toBe(404);
});

test("metrics count calls by their RPC and code, and decisions", async () => {
  await fetch(`${processes.http}/v1/authn/me`, { headers: AS.alice });
  await fetch(`${processes.http}/v1/projects/1`, { headers: AS.mallory });
  const [status, text] = await bodyOf(`${processes.metrics}/metrics`);
  expect(status).toBe(200);
  expect(text).toMatch(/rpc="hub\.authn\.v1\.AuthnService\/GetMe".*code="OK"/);
  expect(text).toMatch(/rpc="hub\.projects\.v1\.ProjectService\/GetProject".*code="FORBIDDEN"/);
  expect(text).toContain('svc_access_authorizations_total{outcome="denied"}');
});

test("a line is logged for each call except probes, without the query and without secrets [OBS-3]", async () => {
  const secret = "swordfish-7c1d";
  const id = "request-of-this-test";
  await fetch(`${processes.http}/v1/authn/me/logins?page_token=${secret}`, {
    headers: {
      ...AS.alice,
      "x-request-id": id,
      authorization: `Bearer ${secret}`,
      cookie: `session=${secret}`,
      "user-agent": `agent token=${secret}`,
    },
  });
  await fetch(`${processes.http}/v1/nothing?password=${secret}`, { headers: AS.git });
  const line = await processes.hub.line((entry) => entry["request_id"] === id);
  expect(line).toMatchObject({
    level: "info",
    service: "hub",
    rpc: "hub.authn.v1.AuthnService/ListMyLogins",
    path: "/v1/authn/me/logins",
    status: 400,
    subject: "user:alice",
    source: "gateway",
  });
  await processes.hub.line(({ path }) => path === "/v1/nothing");
  for (const text of [secret, "page_token", ...Object.values(TOKENS)]) {
    expect(processes.hub.output).not.toContain(text);
  }
  expect(processes.hub.lines.filter(({ path }) => /healthz|readyz/.test(String(path)))).toEqual([]);
});

test("the hub serves the paths of the platform, and those of the login are the edge's [PLAT-11]", async () => {
  const statuses = async (...paths: string[]) =>
    Promise.all(paths.map(async (path) => (await fetch(`${processes.http}${path}`)).status));
  const own = ["/v1/authn/me", "/v1/authz/roles", "/v1/skills/some"];
  expect(await statuses(...own)).toEqual([401, 401, 401]);
  expect(await statuses("/v1/authn/exchange", "/v1/authn/logout")).toEqual([404, 404]);
});
