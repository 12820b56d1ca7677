import { randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSpicedbEngine, parseModel, type Relationship } from "svc-access/authz";
import { describe, test } from "vitest";
import { stringify } from "yaml";
import { etcdIsAbsent, startEtcd } from "../../../../test/support/etcd.ts";
import { freePort } from "../../../../test/support/free-port.ts";
import { openPostgres, query } from "../../../../test/support/postgres.ts";
import { spicedbIsAbsent, startSpicedb } from "../../../../test/support/spicedb.ts";
import {
  type Answer,
  asUser,
  INTERNAL_TOKEN,
  LOGIN_CLIENT,
  REDIRECT_URI,
} from "../support/iam-service.ts";
import { Balancer } from "./balancer.ts";
import { callAt, Replica } from "./replica.ts";

const MODEL = new URL("../../../../model/iam.zed", import.meta.url).pathname;
export const PASSWORD = "correct horse battery staple";

/** Two replicas behind a balancer, over one PostgreSQL and one SpiceDB. */
export interface Platform {
  /** The address of the balancer, which is that of the issuer. */
  readonly origin: string;
  readonly folder: string;
  readonly databaseUrl: string;
  readonly keyFile: string;
  readonly balancer: Balancer;
  readonly replicas: readonly [Replica, Replica];
  call(
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Answer>;
  /** Makes a user. @returns the id */
  addUser(username: string): Promise<string>;
  /** Makes a user an owner of the zone. */
  makeOwner(userId: string): Promise<void>;
  /** Who owns the zone, as `type:id`. */
  owners(): Promise<string[]>;
  /** All relationships of a type of resource. */
  relationships(resourceType: string): Promise<readonly Relationship[]>;
  /** Its servers, which can be stopped and started again. */
  readonly servers: Readonly<Record<"postgres" | "spicedb", Stoppable>>;
  stop(): Promise<void>;
}

/** A server that keeps its data while it is stopped. */
export interface Stoppable {
  stop(): unknown;
  start(): unknown;
}

/** What a test changes of the replicas. */
export interface PlatformOptions {
  readonly iam?: object;
  readonly oidc?: object;
  /** Whether `user:root` owns the zone; true if absent. */
  readonly isOwned?: boolean;
  /** Whether SpiceDB has its data in PostgreSQL, and keeps them if it is stopped. */
  readonly isSpicedbDurable?: boolean;
  /** The heap of each replica, in MiB, as Node.js chooses it by the memory of a container. */
  readonly heapMib?: number;
  /** Whether they publish their routes in etcd, where that is installed. */
  readonly hasEtcd?: boolean;
}

/** Starts all of it; undefined, with a warning, where PostgreSQL or SpiceDB is not installed. */
export async function startPlatform(options: PlatformOptions = {}): Promise<Platform | undefined> {
  if (spicedbIsAbsent()) return undefined;
  const postgres = await openPostgres();
  if (postgres === undefined) {
    if (process.env["CI"] === "true") throw new Error("PostgreSQL is not installed");
    console.warn("SKIPPED, the tests of replicas: PostgreSQL is not installed");
    return undefined;
  }
  const etcd = options.hasEtcd === true && !etcdIsAbsent() ? await startEtcd() : undefined;
  const spicedb = await startSpicedb(
    options.isSpicedbDurable === true ? { postgresUrl: await spicedbDatabase(postgres.url) } : {},
  );
  const folder = mkdtempSync(join(tmpdir(), "svc-iam-replicas-"));
  const keyFile = join(folder, "encryption-key");
  writeFileSync(keyFile, `${randomBytes(32).toString("base64")}\n`);
  const origin = `http://localhost:${await freePort()}`;
  const balancer = new Balancer();
  await balancer.listen(Number(new URL(origin).port));
  await prepareSpicedb(spicedb, options.isOwned ?? true);
  const replicas = [await replica(), await replica()] as const;
  for (const one of replicas) await one.start();
  balancer.use(...replicas.map(({ port }) => port));

  async function replica(): Promise<Replica> {
    const { heapMib } = options;
    const flags = heapMib === undefined ? [] : [`--max-old-space-size=${heapMib}`];
    const made = new Replica(folder, { http: await freePort(), grpc: await freePort() }, flags);
    const { endpoint, token } = spicedb;
    writeFileSync(
      made.file,
      stringify({
        environment: "test",
        service: "iam",
        log: { level: "error" },
        server: {
          http: { address: `127.0.0.1:${made.port}` },
          grpc: { address: `127.0.0.1:${made.grpcPort}` },
          metrics: null,
        },
        security: {
          authn: {
            mode: "hybrid",
            provider: "embedded",
            oidc: {
              issuer: `${origin}/v1/iam/oidc`,
              audience: [LOGIN_CLIENT],
              ...options.oidc,
            },
            gateway: { trusted_peers: ["127.0.0.1"] },
            internal_call: { enabled: true, token: [{ service: "hub", token: INTERNAL_TOKEN }] },
          },
          authz: {
            provider: "spicedb",
            model: MODEL,
            spicedb: { endpoint, token, insecure: true },
          },
        },
        database: { driver: "postgres", url: postgres?.url },
        ...(etcd === undefined ? {} : { registry: { etcd: { endpoints: [etcd.endpoint] } } }),
        iam: {
          organization: "acme",
          public_url: origin,
          encryption_key_file: keyFile,
          login: { client_id: LOGIN_CLIENT, redirect_uris: [REDIRECT_URI] },
          services: { hub: { may_exchange_tokens: true } },
          ...options.iam,
        },
      }),
    );
    return made;
  }

  const call: Platform["call"] = (method, path, body, headers) =>
    callAt(origin, method, path, body, headers);
  return {
    origin,
    folder,
    databaseUrl: postgres.url,
    keyFile,
    balancer,
    replicas,
    call,
    async addUser(username) {
      const user = { username, displayName: username, email: `${username}@example.com` };
      const made = { ...user, password: PASSWORD };
      const { status, body } = await call("POST", "/v1/users", made, asUser("root"));
      if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
      return body.id;
    },
    async makeOwner(userId) {
      const engine = await engineOf(spicedb);
      await writeOwner(engine, userId);
      await engine.close();
    },
    async owners() {
      const engine = await engineOf(spicedb);
      const { items } = await engine.readRelationships({ resourceType: "zone", relation: "owner" });
      await engine.close();
      return items.map(({ subject }) => `${subject.type}:${subject.id}`);
    },
    async relationships(resourceType) {
      const engine = await engineOf(spicedb);
      const found: Relationship[] = [];
      let cursor: string | undefined;
      do {
        const page = cursor === undefined ? {} : { cursor };
        const options = { newest: true };
        const read = await engine.readRelationships({ resourceType }, page, options);
        found.push(...read.items);
        cursor = read.nextCursor;
      } while (cursor !== undefined);
      await engine.close();
      return found;
    },
    servers: {
      postgres: { stop: () => postgres.stop?.(), start: () => postgres.start?.() },
      spicedb,
    },
    async stop() {
      balancer.close();
      for (const one of replicas) await one.kill();
      await spicedb.stop();
      await etcd?.remove();
      postgres.remove();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A database beside that of svc-iam. */
async function spicedbDatabase(postgresUrl: string): Promise<string> {
  await query(postgresUrl, "create database spicedb");
  const url = new URL(postgresUrl);
  url.pathname = "/spicedb";
  url.searchParams.set("sslmode", "disable");
  return url.href;
}

interface SpicedbAddress {
  readonly endpoint: string;
  readonly token: string;
}

function engineOf(server: SpicedbAddress) {
  const { model } = parseModel(readFileSync(MODEL, "utf8"), MODEL);
  // A busy machine is slow.
  return createSpicedbEngine({ ...server, insecure: true, model, deadlineMs: 60_000 });
}

/** Tests on a platform; where there is none, they are skipped by their common name. */
export function onPlatform(
  name: string,
  platform: Platform | undefined,
  tests: (platform: Platform) => void,
): void {
  if (platform === undefined) test.skip(name, () => undefined);
  else describe(name, () => tests(platform));
}

/** The schema, and who may make users. */
async function prepareSpicedb(server: SpicedbAddress, isOwned: boolean) {
  const engine = await engineOf(server);
  await engine.writeSchema(readFileSync(MODEL, "utf8"));
  if (isOwned) await writeOwner(engine, "root");
  await engine.close();
}

async function writeOwner(engine: Awaited<ReturnType<typeof engineOf>>, id: string) {
  const resource = { type: "zone", id: "acme" };
  const relationship = { resource, relation: "owner", subject: { type: "user", id } };
  await engine.writeRelationships({ updates: [{ operation: "TOUCH", relationship }] });
}
