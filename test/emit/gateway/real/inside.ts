/**
 * Runs within the network of the test: everything that listens, and the client that asks. It reads
 * a command a line and answers each by a line.
 */

import { readdirSync, readFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { HubProcesses } from "../../../hub/support/hub-process.ts";
import { PORTS } from "./platform.ts";
import type { Answer, Asked, Command } from "./real-gateway.ts";
import { hubProxy, pages, provider, SEEN, tokenOf } from "./servers.ts";
import { startStandalone } from "./standalone.ts";

const [folder = "", emitted = "", envoyGateway = "", envoy = ""] = process.argv.slice(2);

const lines = createInterface({ input: process.stdin });
// Standard input has ended: the test is done, or gone.
lines.once("close", () => void end());

await provider();
await pages();
const hub = await HubProcesses.start();
const proxy = await hubProxy(hub.http);
const gateway = startStandalone({ envoyGateway, envoy }, folder, emitted);
await serving().catch((error: Error) => {
  process.stderr.write(error.message);
  return end(1);
});
process.stdout.write(`${JSON.stringify({ ready: true })}\n`);

lines.on("line", async (line) => {
  process.stdout.write(`${JSON.stringify(await run(JSON.parse(line)))}\n`);
});

async function end(code = 0): Promise<void> {
  const { child } = gateway;
  // Envoy ends with it.
  const ended = new Promise((resolve) => child.once("close", resolve));
  if (child.exitCode === null && child.kill("SIGTERM")) await ended;
  await hub.remove();
  process.exit(code);
}

async function run(command: Command): Promise<unknown> {
  switch (command.kind) {
    case "ask":
      return ask(command.asked);
    case "ask at once":
      return Promise.all(command.asked.map(ask));
    case "token":
      return tokenOf(command.claims);
    case "log":
      return gateway.log();
    case "routes": {
      // Envoy's administration has any free port, and writes down which.
      const [file = ""] = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter(
        (name) => name.endsWith("admin-address.txt"),
      );
      const port = Number(readFileSync(join(folder, file), "utf8").split(":").at(-1));
      const { body } = await ask({ port, path: "/config_dump?resource=dynamic_route_configs" });
      return JSON.parse(body);
    }
    case "hub is gone":
      proxy.closeAllConnections();
      return new Promise((resolve) => proxy.close(() => resolve(true)));
  }
}

/** Routes come a moment after the listener: until then every path of a host is 404. */
async function serving(): Promise<void> {
  for (;;) {
    const log = gateway.log();
    // It stays up when it cannot load a file, and serves nothing.
    if (gateway.child.exitCode !== null || log.includes("failed to reload resources")) {
      throw new Error(log);
    }
    const statuses = await Promise.all(
      ["hub", "scripts", "api"].map((name) =>
        ask({ host: `${name}.example.com`, path: "/v1/authn/me", token: tokenOf() }).then(
          ({ status }) => status,
          () => 0,
        ),
      ),
    );
    if (statuses.join() === "200,200,403") return;
    await sleep(100);
  }
}

function ask(asked: Asked): Promise<Answer> {
  const { host = "hub.example.com", path, method = "GET", headers = [], token, body, port } = asked;
  const { type = "application/json" } = asked;
  return new Promise((resolve, reject) => {
    const all = ["Host", host, ...headers.flat()];
    if (token !== undefined) all.push("Authorization", `Bearer ${token}`);
    if (body !== undefined) {
      all.push("Content-Type", type, "Content-Length", String(body.length));
    }
    const target = { hostname: "127.0.0.1", port: port ?? PORTS.edge, path, method, headers: all };
    const outgoing = request(target, (incoming) => {
      let text = "";
      incoming.on("data", (chunk: Buffer) => {
        text += chunk.toString();
      });
      incoming.on("error", reject);
      incoming.on("end", () => {
        const note = incoming.headers[SEEN] as string | undefined;
        resolve({
          status: incoming.statusCode ?? 0,
          headers: incoming.headers as Answer["headers"],
          cookies: incoming.headers["set-cookie"] ?? [],
          body: text,
          ...(note === undefined
            ? {}
            : { seen: JSON.parse(Buffer.from(note, "base64").toString()) }),
        });
      });
    });
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}
