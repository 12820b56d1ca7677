/**
 * A vault in a separate process, as a user runs one: `node child-server.ts JSON`. It sends
 * its ports, and answers each message with its memory after a garbage collection
 * and the number of slow notices.
 */
import {
  createAuthorizationEngine,
  createLogger,
  runServer,
  type ServerAddresses,
} from "../../../../src/runtime/index.ts";
import { bindVaultService } from "../../fixture/gen/acme/vault/v1/vault_server.ts";
import { shareDocument, vaultConfiguration } from "../../support/vault-server.ts";
import type { ChildOptions } from "./child.ts";
import { faultHandlers } from "./fault-handlers.ts";

const { folder, security = {}, config = {} } = JSON.parse(process.argv[2] ?? "") as ChildOptions;
const configuration = vaultConfiguration(folder, security, config);
const engine = await createAuthorizationEngine(configuration.config);
await shareDocument(engine);
const { handlers, seen } = faultHandlers(() => engine);

await runServer({
  configuration,
  bindings: [bindVaultService(handlers)],
  engine,
  logger: createLogger({ destination: { write: sendPorts } }),
});

function sendPorts(line: string): void {
  const { message, addresses } = JSON.parse(line) as {
    message: string;
    addresses?: ServerAddresses;
  };
  if (message !== "started" || addresses === undefined) return;
  process.send?.({ http: addresses["http"]?.port, grpc: addresses["grpc"]?.port });
}

process.on("message", () => {
  globalThis.gc?.();
  process.send?.({ rss: process.memoryUsage().rss, sleeping: seen.sleeping });
});
// The channel to the test must not keep the process alive.
process.channel?.unref();
