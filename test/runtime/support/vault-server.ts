import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stringify } from "yaml";
import type { AuthorizationEngine } from "../../../src/authz/engine/engine.ts";
import { checkAuthnConfig } from "../../../src/runtime/authn/check-authn-config.ts";
import { parseServiceConfig } from "../../../src/runtime/configuration/load-service-config.ts";
import {
  createLogger,
  createServer,
  type Server,
  type ServerOptions,
} from "../../../src/runtime/index.ts";
import { ROOT } from "../../support/workspace.ts";
import { bindVaultService } from "../fixture/gen/acme/vault/v1/vault_server.ts";
import { vaultHandlers } from "./vault-handlers.ts";

export const FIXTURE = join(ROOT, "test/runtime/fixture/");
export const INTERNAL_TOKEN = "internal-token-of-the-hub";
export const SYSTEM_TOKEN = "system-token-of-the-platform";

/** A running vault. */
export interface RunningVault {
  readonly server: Server;
  readonly engine: AuthorizationEngine;
  readonly http: number;
  readonly grpc: number;
  readonly metrics: number;
  /** The lines of its log. */
  readonly lines: string[];
  stop(): Promise<void>;
}

/** Differences from the usual vault. */
export interface VaultOptions extends Partial<ServerOptions> {
  /** The section `security` of its configuration. */
  readonly security?: object;
  /** Other sections of its configuration. */
  readonly config?: object;
}

/** The folders of servers that did not start, or were not stopped. */
const folders = new Set<string>();
process.once("exit", () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** Starts the test service on free ports, with its own store. */
export async function startVault(options: VaultOptions = {}): Promise<RunningVault> {
  const { security = {}, config = {}, ...rest } = options;
  const folder = mkdtempSync(join(tmpdir(), "svc-access-vault-"));
  folders.add(folder);
  const lines: string[] = [];
  const configuration = vaultConfiguration(folder, security, config);
  const server = await createServer({
    configuration,
    bindings: [bindVaultService(vaultHandlers())],
    logger: createLogger({ destination: { write: (line: string) => void lines.push(line) } }),
    ...rest,
  });
  const addresses = await server.start();
  return {
    server,
    engine: server.engine as AuthorizationEngine,
    http: addresses["http"]?.port ?? 0,
    grpc: addresses["grpc"]?.port ?? 0,
    metrics: addresses["metrics"]?.port ?? 0,
    lines,
    async stop() {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
      folders.delete(folder);
    },
  };
}

/** In nanoseconds. */
const HOUR = 3_600_000_000_000;

/** The configuration of a vault in a folder. */
export function vaultConfiguration(folder: string, security: object, config: object) {
  const { authn = {}, authz = {} } = security as { authn?: object; authz?: object };
  const { database = { driver: "sqlite", file: join(folder, "vault.db") } } = config as {
    database?: object;
  };
  const document = {
    environment: "development",
    service: "vault",
    server: {
      http: { address: "127.0.0.1:0" },
      grpc: { address: "127.0.0.1:0" },
      metrics: { address: "127.0.0.1:0" },
    },
    security: {
      authn: {
        internal_call: {
          enabled: true,
          token: [{ service: "hub", token: INTERNAL_TOKEN }],
          system_token: SYSTEM_TOKEN,
        },
        ...authn,
      },
      authz: { model: join(FIXTURE, "model.zed"), ...authz },
    },
    ...config,
    // On a slow machine, slow queries are logged only if a test needs them.
    database: { slow_query_threshold_ns: HOUR, ...database },
  };
  return parseServiceConfig(stringify(document), join(folder, "vault.yaml"), {
    variables: {},
    checks: [checkAuthnConfig],
  });
}

/** Allows alice to view and edit the document `open`. */
export async function shareDocument(engine: AuthorizationEngine): Promise<void> {
  const subject = { type: "user", id: "alice" };
  const resource = { type: "document", id: "open" };
  await engine.writeRelationships({
    updates: ["viewer", "editor"].map((relation) => {
      return { operation: "TOUCH", relationship: { resource, relation, subject } };
    }),
  });
}
