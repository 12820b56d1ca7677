/** Idle connections, ten thousand in CI: the service responds, and its memory is bounded. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { runs } from "../../support/effort.ts";
import { fileLimit, startChild, startChildVault } from "./support/child.ts";
import { Load } from "./support/load.ts";

const MIB = 1024 * 1024;
/** File descriptors that a process needs for other purposes. */
const SPARE = 500;
const COUNT = Math.min(runs(5000, 250), Math.floor((fileLimit() - SPARE) / 2));
/** The memory limit of an idle connection, in bytes; about a quarter is used. */
const BYTES_EACH = 64 * 1024;

const folder = mkdtempSync(join(tmpdir(), "svc-access-idle-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test(`${COUNT} idle connections over HTTP and as many over HTTP/2 use little memory and delay no other call`, async () => {
  const vault = await startChildVault({ folder });
  const warm = new Load(vault);
  await warm.phase("warm", 50);
  await warm.stop();
  const before = await vault.ask<{ rss: number }>("memory");
  const clients = startChild("idle-clients.ts", [vault.http, vault.grpc, COUNT].map(String));
  const opened = await new Promise<{ lost: number }>((resolve) => {
    clients.process.once("message", (message) => resolve(message as { lost: number }));
  });
  expect(opened.lost).toBe(0);
  const during = await vault.ask<{ rss: number }>("memory");
  const load = new Load(vault);
  await load.phase("beside idle ones", 30);
  await load.stop();
  load.expectPhase("beside idle ones");
  load.expectNoWrongAnswer([]);
  expect(await clients.ask<{ lost: number }>("lost")).toEqual({ lost: 0 });
  const grown = during.rss - before.rss;
  console.log(`${2 * COUNT} idle connections: ${(grown / MIB).toFixed(0)} MiB`);
  expect(grown).toBeLessThan(2 * COUNT * BYTES_EACH);
  // It ends while all of them are open, and closes them.
  vault.process.kill("SIGTERM");
  expect(await vault.ended).toBe(0);
  clients.process.kill("SIGKILL");
  await clients.ended;
});
