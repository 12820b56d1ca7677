import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { ServiceProcess } from "./support/hub-process.ts";

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

test("where one does not start, the other one ends too", async () => {
  const both = new ServiceProcess("start", { environment: { ...environment, SYSTEM_TOKEN: "x" } });
  expect(await both.exited).toBe(2);
  expect(both.errors).toMatch(/system_token/);
});
