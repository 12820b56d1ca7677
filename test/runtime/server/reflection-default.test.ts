/** The default of server reflection. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, expect, test } from "vitest";
import { createLogger, createServer } from "../../../src/runtime/index.ts";
import { bindVaultService } from "../fixture/gen/acme/vault/v1/vault_server.ts";
import { frame, rawCall, rawSession } from "../grpc/support/raw-call.ts";
import { vaultHandlers } from "../support/vault-handlers.ts";
import { vaultConfiguration } from "../support/vault-server.ts";

const folder = mkdtempSync(join(tmpdir(), "svc-access-reflection-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const opened: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

const OK = 0;
const UNIMPLEMENTED = 12;

test.each([
  ["production", undefined, UNIMPLEMENTED],
  ["staging", undefined, UNIMPLEMENTED],
  ["production", true, OK],
  ["development", undefined, OK],
  ["test", undefined, OK],
  ["development", false, UNIMPLEMENTED],
])(
  "environment %s, server.grpc.reflection %s: gRPC status %i",
  async (environment, reflection, status) => {
    const grpc = {
      address: "127.0.0.1:0",
      ...(reflection === undefined ? {} : { reflection }),
    };
    const authn = { gateway: { trusted_peers: ["10.0.0.0/8"] } };
    const server = await createServer({
      configuration: vaultConfiguration(folder, { authn }, { environment, server: { grpc } }),
      bindings: [bindVaultService(vaultHandlers())],
      logger: createLogger({ destination: { write: () => undefined } }),
    });
    const addresses = await server.start();
    const session = rawSession(addresses["grpc"]?.port ?? 0);
    for (const version of ["v1", "v1alpha"]) {
      const path = `/grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`;
      // The list of services.
      const answer = await rawCall(session, path, {}, frame(Uint8Array.of(0x3a, 0)));
      expect(answer.grpcStatus).toBe(status);
    }
    session.destroy();
    await server.stop();
  },
);
