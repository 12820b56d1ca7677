/** Errors of the servers' sockets, when they begin to listen and later. */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { mkdtempSync, rmSync } from "node:fs";
import { type AddressInfo, connect, createServer as createTcpServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { createLogger, createServer, StartUpError } from "../../../src/runtime/index.ts";
import { bindVaultService } from "../fixture/gen/acme/vault/v1/vault_server.ts";
import { vaultHandlers } from "../support/vault-handlers.ts";
import { startVault, vaultConfiguration } from "../support/vault-server.ts";

const folder = mkdtempSync(join(tmpdir(), "svc-access-listen-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const TRANSPORTS = [
  ["http", "HTTP"],
  ["grpc", "gRPC"],
  ["metrics", "metrics"],
] as const;

/** The problems of a server with this HTTP, gRPC or metrics address. */
async function problemsAt(name: string, address: string): Promise<readonly string[]> {
  const server = {
    http: { address: "127.0.0.1:0" },
    grpc: { address: "127.0.0.1:0" },
    metrics: { address: "127.0.0.1:0" },
    [name]: { address },
  };
  const made = await createServer({
    configuration: vaultConfiguration(folder, {}, { server }),
    bindings: [bindVaultService(vaultHandlers())],
    logger: createLogger({ destination: { write: () => undefined } }),
  });
  const error: unknown = await made.start().then(
    () => made.stop(),
    (reason) => reason,
  );
  expect(error).toBeInstanceOf(StartUpError);
  return (error as StartUpError).problems;
}

describe.each(TRANSPORTS)(
  "the %s server reports the key, the address and the fix",
  (name, what) => {
    test("if another process has the address", async () => {
      const taken = createTcpServer();
      await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
      const address = `127.0.0.1:${(taken.address() as AddressInfo).port}`;
      const problems = await problemsAt(name, address);
      taken.close();
      expect(problems).toEqual([
        `${what} cannot listen on ${address} (server.${name}.address): the address is in use by another process: stop it, or choose another port`,
      ]);
    });

    test("if the address does not belong to this machine", async () => {
      expect(await problemsAt(name, "192.0.2.1:9")).toEqual([
        `${what} cannot listen on 192.0.2.1:9 (server.${name}.address): this machine does not have the address: choose one that it has`,
      ]);
    });
  },
);

describe("a server that listens", () => {
  const CHANNEL = "tracing:net.server.listen:asyncStart";

  test("logs once that no connection can be accepted, and continues", async () => {
    const sockets: Server[] = [];
    const note = (message: unknown): void => {
      sockets.push((message as { server: Server }).server);
    };
    subscribe(CHANNEL, note);
    const vault = await startVault();
    unsubscribe(CHANNEL, note);
    expect(sockets).toHaveLength(TRANSPORTS.length);
    for (const socket of sockets) {
      const error = Object.assign(new Error("accept EMFILE"), { code: "EMFILE" });
      for (let time = 0; time < 3; time++) socket.emit("error", error);
    }
    const reported = vault.lines
      .map((line) => JSON.parse(line))
      .filter(({ level }) => level === "error");
    expect(reported.map(({ message }) => message).sort()).toEqual([
      "the HTTP server has a problem",
      "the gRPC server has a problem",
      "the metrics server has a problem",
    ]);
    for (const one of reported) expect(JSON.stringify(one)).toContain("accept EMFILE");
    for (const [name] of TRANSPORTS) {
      const connection = connect(vault[name], "127.0.0.1");
      await new Promise<void>((resolve) => connection.once("connect", resolve));
      connection.destroy();
    }
    await vault.stop();
  });
});
