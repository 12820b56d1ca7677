import { appendFileSync } from "node:fs";
import { connect } from "node:net";
import { test } from "vitest";
import { Load } from "../support/load.ts";
import { startVault, shareDocument } from "../../support/vault-server.ts";
test("p", async () => {
  const vault = await startVault({ config: { server: { http: { address: "127.0.0.1:0", timeout_ns: 2e9 }, grpc: { address: "127.0.0.1:0" } } } });
  await shareDocument(vault.engine);
  const load = process.env.LOAD ? new Load(vault) : undefined;
  let worst = 0; let last = performance.now();
  setInterval(() => { const n = performance.now(); worst = Math.max(worst, n - last - 50); last = n; }, 50).unref();
  const t = performance.now();
  const times: number[] = []; const ends: number[] = []; const errors: string[] = [];
  await Promise.all(Array.from({ length: 200 }, () => new Promise<void>((resolve) => {
      const socket = connect(vault.http, "127.0.0.1");
      socket.write(`PUT /v1/documents/open HTTP/1.1\r\nHost: v\r\nContent-Type: application/json\r\nContent-Length: 100000\r\nx-svc-external-sub: alice\r\n\r\n`);
      const timer = setInterval(() => socket.writable && socket.write(" "), 300);
      socket.on("data", () => times.push(Math.round(performance.now() - t)));
      socket.on("error", (e) => errors.push(`${Math.round(performance.now() - t)} ${e.message}`));
      socket.on("close", () => { clearInterval(timer); ends.push(Math.round(performance.now() - t)); resolve(); });
    })));
  times.sort((a, b) => a - b); ends.sort((a, b) => a - b);
  appendFileSync("/tmp/probe.log", `${JSON.stringify({ answers: [times[0], times[100], times.at(-1)], closes: [ends[0], ends[100], ends.at(-1)], worst, errors: errors.slice(0, 5) , load: load?.answers.length})}\n`);
  const s = performance.now();
  await load?.stop();
  appendFileSync("/tmp/probe.log", `load stop ${performance.now() - s}\n`);
  await vault.stop();
  appendFileSync("/tmp/probe.log", `stop ${performance.now() - s}\n`);
});
