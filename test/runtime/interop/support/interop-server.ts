import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseServiceConfig } from "../../../../src/runtime/configuration/load-service-config.ts";
import { createLogger, createServer, type Interceptor } from "../../../../src/runtime/index.ts";
import { bindTestService } from "../gen/grpc/testing/test_server.ts";
import { echoMetadata, interopHandlers } from "./interop-handlers.ts";

/** The service of gRPC's interoperability tests, served by this runtime. */
export interface InteropServer {
  readonly port: number;
  stop(): Promise<void>;
}

/** Both ports serve gRPC. */
export type InteropPort = "grpc" | "http";

/**
 * Serves it on a free port.
 *
 * @param port the port to open
 * @param settings changes of that port's configuration
 * @param after interceptors between the chain and the handlers
 */
export async function startInteropServer(
  port: InteropPort = "grpc",
  settings: object = {},
  after: readonly Interceptor[] = [],
): Promise<InteropServer> {
  const folder = mkdtempSync(join(tmpdir(), "svc-access-interop-"));
  const document = {
    environment: "development",
    service: "interop",
    server: { [port]: { address: "127.0.0.1:0", ...settings } },
    security: { authn: { mode: "gateway_trusted" } },
  };
  const server = await createServer({
    configuration: parseServiceConfig(JSON.stringify(document), join(folder, "interop.yaml"), {
      variables: {},
      checks: [],
    }),
    bindings: [bindTestService(interopHandlers(folder))],
    after: [echoMetadata, ...after],
    logger: createLogger({ destination: { write: () => undefined } }),
  });
  const addresses = await server.start();
  return {
    port: addresses[port]?.port ?? 0,
    async stop() {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
