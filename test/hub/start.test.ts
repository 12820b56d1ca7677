import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, onTestFinished, test } from "vitest";
import type { Json } from "./support/caller.ts";
import { HUB, ServiceProcess, TOKENS } from "./support/hub-process.ts";
import { slowRequest } from "./support/slow-request.ts";

const data = mkdtempSync(join(tmpdir(), "svc-access-start-"));

afterAll(() => rmSync(data, { recursive: true, force: true }));

const free = "127.0.0.1:0";
const environment = {
  DATA: data,
  HTTP_ADDRESS: free,
  GRPC_ADDRESS: free,
  METRICS_ADDRESS: free,
  GIT_ADDRESS: free,
  GIT_METRICS_ADDRESS: free,
};
const started = (name: string) => (entry: Readonly<Record<string, unknown>>) =>
  entry["message"] === "started" && entry["service"] === name;

test("npm start runs both services without any preparation, and SIGTERM ends both", async () => {
  const both = new ServiceProcess("start", { environment });
  await both.line(started("git"));
  await both.line(started("hub"));
  expect(await both.stop()).toBe(0);
  expect(both.lines.filter(({ message }) => message === "stopped")).toHaveLength(2);
  expect(both.errors).toBe("");
});

test("the hub completes running calls, even if the Git service has ended before", async () => {
  const both = new ServiceProcess("start", { environment: { ...environment, ...TOKENS } });
  const { addresses } = (await both.line(started("hub"))) as Json;
  await both.line(started("git"));
  const slow = slowRequest(`http://${addresses.http.host}:${addresses.http.port}`);
  await slow.begun;
  const exited = both.stop();
  await both.line(({ message, service }) => message === "stopped" && service === "git");
  slow.finish();
  expect(await slow.response).toMatch(/^HTTP\/1\.1 200 /);
  expect(await exited).toBe(0);
});

test("without generated code the command that makes it is named", async () => {
  const folder = mkdtempSync(join(tmpdir(), "svc-access-start-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  cpSync(join(HUB, "src"), join(folder, "src"), { recursive: true });
  const both = new ServiceProcess("start", { environment, folder });
  expect(await both.exited).toBe(2);
  expect(both.errors).toBe("gen is missing: run npm run generate\n");
});

test("if one does not start, the other one ends, too", async () => {
  const both = new ServiceProcess("start", { environment: { ...environment, SYSTEM_TOKEN: "x" } });
  expect(await both.exited).toBe(2);
  expect(both.errors).toMatch(/system_token/);
});
