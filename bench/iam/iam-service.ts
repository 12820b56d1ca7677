/** A whole svc-iam in a process of its own, with the embedded provider, and people who have passwords. */
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { migrateServiceDatabase, openServiceDatabase } from "svc-access/database";
import { stringify } from "yaml";
import { loadIamConfig } from "../../services/iam/src/config/load-iam-config.ts";
import { IAM_TABLES, type IamTables } from "../../services/iam/src/ground/store/tables.ts";
import { LocalAccounts } from "../../services/iam/src/people/accounts/local-accounts.ts";
import { PasswordHasher } from "../../services/iam/src/people/accounts/passwords/password-hasher.ts";
import { freePort } from "../../test/support/free-port.ts";
import { type StartedService, startService } from "../service-start.ts";

/** The program `svc-iam`. */
export const IAM_MAIN = join(import.meta.dirname, "../../services/iam/src/main.ts");
/** Where browsers come back to after a login. */
export const REDIRECT_URI = "https://console.example.com/callback";
/** The internal token of the service `hub`. */
export const HUB_TOKEN = "the-internal-token-of-the-hub-in-benches";
/** The password of all people. */
export const PASSWORD = "correct horse battery staple";

/** The client that svc-iam is at its provider. */
export const LOGIN_CLIENT = "4b7d1b0e-6d0a-4bb1-8a5a-0d8c1ef1a0e1";
/** The model of the platform. */
export const MODEL = join(import.meta.dirname, "../../model/iam.zed");

/** A svc-iam that runs. */
export interface BenchIam extends StartedService {
  readonly origin: string;
  readonly grpcPort: number;
  /** The stored hash of the password of all people. */
  readonly passwordHash: string;
}

/**
 * Starts svc-iam over a new SQLite file with people `p0`, `p1`, and so on.
 *
 * @param fill writes relationships into the file of the engine before
 * @param options of Node.js
 */
export async function startIam(
  people: number,
  fill?: (file: string) => Promise<void>,
  options: readonly string[] = [],
): Promise<BenchIam> {
  const folder = mkdtempSync(join(tmpdir(), "svc-access-bench-iam-"));
  const [port, grpcPort] = [await freePort(), await freePort()];
  const origin = `http://localhost:${port}`;
  const file = join(folder, "service.yaml");
  writeFileSync(join(folder, "key"), randomBytes(32).toString("base64"));
  writeFileSync(file, stringify(configuration({ origin, port, grpcPort, folder })));
  try {
    const passwordHash = await addPeople(file, people);
    await fill?.(join(folder, "iam.relationships.db"));
    const args = [...options, IAM_MAIN, "serve", file];
    const service = await startService({ args, env: {}, port });
    const stop = async () => {
      await service.stop();
      rmSync(folder, { recursive: true, force: true });
    };
    return { ...service, origin, grpcPort, passwordHash, stop };
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

function configuration({
  origin,
  port,
  grpcPort,
  folder,
}: {
  readonly origin: string;
  readonly port: number;
  readonly grpcPort: number;
  readonly folder: string;
}) {
  return {
    environment: "production",
    service: "iam",
    server: {
      http: { address: `127.0.0.1:${port}` },
      grpc: { address: `127.0.0.1:${grpcPort}` },
      metrics: { address: "127.0.0.1:0" },
    },
    security: {
      authn: {
        mode: "hybrid",
        provider: "embedded",
        oidc: { issuer: `${origin}/v1/iam/oidc`, audience: [LOGIN_CLIENT] },
        // The load is the gateway, which reports the addresses of many people.
        gateway: { trusted_peers: ["127.0.0.1"] },
        internal_call: { enabled: true, token: [{ service: "hub", token: HUB_TOKEN }] },
      },
      authz: { provider: "embedded", model: MODEL },
    },
    database: { driver: "sqlite", file: "iam.db" },
    iam: {
      organization: "acme",
      public_url: origin,
      encryption_key_file: join(folder, "key"),
      login: { client_id: LOGIN_CLIENT, redirect_uris: [REDIRECT_URI] },
      services: {
        hub: {
          read_types: ["*"],
          write_types: ["organization", "project", "skill_space", "skill"],
          may_exchange_tokens: true,
        },
      },
    },
  };
}

/**
 * Makes the tables, and people `p0`, `p1`, and so on. The hash of their password is made once, as the bench
 * waits for it.
 *
 * @returns that hash
 */
export async function addPeople(file: string, people: number): Promise<string> {
  const { config } = loadIamConfig(file);
  const passwordHash = await new PasswordHasher().hash(PASSWORD);
  await migrateServiceDatabase(config, IAM_TABLES);
  const database = await openServiceDatabase<IamTables>(config, IAM_TABLES);
  try {
    const accounts = new LocalAccounts(database.kysely, "acme");
    for (let person = 0; person < people; person++) {
      const username = `p${person}`;
      const email = `${username}@example.com`;
      await accounts.create({ username, displayName: `Person ${person}`, email, passwordHash });
    }
  } finally {
    await database.close();
  }
  return passwordHash;
}
