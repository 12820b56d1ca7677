/** Two svc-iam over one PostgreSQL and one SpiceDB, and a service that follows the revocations of the first. */
import { randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSpicedbEngine, parseModel } from "svc-access/authz";
import {
  createServer,
  loadServiceConfig,
  type RouteDocument,
  requirePrincipal,
} from "svc-access/runtime";
import { stringify } from "yaml";
import allRoutes from "../../services/iam/gen/routes/iam.json" with { type: "json" };
import { IAMAuthService } from "../../services/iam/gen/svc/iam/v1/auth_pb.ts";
import {
  bindIAMAuthService,
  type IAMAuthServiceHandlers,
} from "../../services/iam/gen/svc/iam/v1/auth_server.ts";
import { freePort } from "../../test/support/free-port.ts";
import { openPostgres } from "../../test/support/postgres.ts";
import { startSpicedb } from "../../test/support/spicedb.ts";
import { type StartedService, startService } from "../service-start.ts";
import {
  addPeople,
  HUB_TOKEN,
  IAM_MAIN,
  LOGIN_CLIENT,
  MODEL,
  REDIRECT_URI,
} from "./iam-service.ts";

/** What runs. */
export interface BenchReplicas {
  /** The first replica, where people log in. */
  readonly first: string;
  /** Where a revocation must hold, by what it is. */
  readonly others: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

interface Ports {
  readonly http: number;
  readonly grpc: number;
}

/** Starts all of it, with people `p0`, `p1`, and so on. */
export async function startReplicas(people: number): Promise<BenchReplicas> {
  const folder = mkdtempSync(join(tmpdir(), "svc-access-bench-replicas-"));
  const stops: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })];
  const stop = async () => {
    for (const one of stops.splice(0).reverse()) await one();
  };
  try {
    const postgres = await openPostgres();
    if (postgres === undefined) throw new Error("there is no PostgreSQL");
    stops.push(() => postgres.remove());
    const spicedb = await startSpicedb();
    stops.push(() => spicedb.stop());
    await writeModel(spicedb);
    writeFileSync(join(folder, "key"), randomBytes(32).toString("base64"));
    const ports = { http: await freePort(), grpc: await freePort() };
    const origin = `http://localhost:${ports.http}`;
    const parts = { folder, origin, spicedb, postgresUrl: postgres.url };
    const files = [
      writeConfiguration(parts, ports),
      writeConfiguration(parts, { http: await freePort(), grpc: await freePort() }),
    ];
    await addPeople(files[0]?.file ?? "", people);
    const replicas: StartedService[] = [];
    for (const { file, port } of files) {
      const one = await startService({ args: [IAM_MAIN, "serve", file], env: {}, port });
      stops.push(() => one.stop());
      replicas.push(one);
    }
    const service = await startFollower(folder, origin, ports.grpc);
    stops.push(() => service.stop());
    const replica = `http://127.0.0.1:${replicas[1]?.port}`;
    const others = { "the other replica": replica, "a service": service.origin };
    return { first: origin, others, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function writeModel({ endpoint, token }: { endpoint: string; token: string }) {
  const text = readFileSync(MODEL, "utf8");
  const { model } = parseModel(text, MODEL);
  const engine = await createSpicedbEngine({ model, endpoint, token, insecure: true });
  await engine.writeSchema(text);
  await engine.close();
}

function writeConfiguration(
  parts: {
    readonly folder: string;
    readonly origin: string;
    readonly postgresUrl: string;
    readonly spicedb: { readonly endpoint: string; readonly token: string };
  },
  { http, grpc }: Ports,
) {
  const { folder, origin, spicedb, postgresUrl } = parts;
  const { endpoint, token } = spicedb;
  const file = join(folder, `service-${http}.yaml`);
  const configuration = {
    environment: "production",
    service: "iam",
    server: {
      http: { address: `127.0.0.1:${http}` },
      grpc: { address: `127.0.0.1:${grpc}` },
      metrics: { address: "127.0.0.1:0" },
    },
    security: {
      authn: {
        mode: "hybrid",
        provider: "embedded",
        oidc: { issuer: `${origin}/v1/iam/oidc`, audience: [LOGIN_CLIENT] },
        gateway: { trusted_peers: ["127.0.0.1"] },
        internal_call: { enabled: true, token: [{ service: "hub", token: HUB_TOKEN }] },
      },
      authz: { provider: "spicedb", model: MODEL, spicedb: { endpoint, token, insecure: true } },
    },
    database: { driver: "postgres", url: postgresUrl },
    iam: {
      organization: "acme",
      public_url: origin,
      encryption_key_file: join(folder, "key"),
      login: { client_id: LOGIN_CLIENT, redirect_uris: [REDIRECT_URI] },
      services: { hub: { may_exchange_tokens: true } },
    },
  };
  writeFileSync(file, stringify(configuration));
  return { file, port: http };
}

/** A service that verifies access tokens itself: it serves `GET /v1/iam/me` in place of its own RPCs. */
async function startFollower(folder: string, issuerOrigin: string, grpcPort: number) {
  const origin = `http://127.0.0.1:${await freePort()}`;
  const file = join(folder, "follower.yaml");
  const configuration = {
    environment: "production",
    service: "iam",
    log: { level: "error" },
    server: { http: { address: new URL(origin).host }, metrics: { address: "127.0.0.1:0" } },
    security: {
      authn: {
        mode: "idp_jwt",
        oidc: { issuer: `${issuerOrigin}/v1/iam/oidc`, audience: [LOGIN_CLIENT] },
        revocation: { endpoint: `127.0.0.1:${grpcPort}`, token: HUB_TOKEN, insecure: true },
      },
      authz: { provider: "embedded", model: MODEL },
    },
    database: { driver: "sqlite", file: "follower.db" },
  };
  writeFileSync(file, stringify(configuration));
  const handlers = new Proxy({} as IAMAuthServiceHandlers, {
    get: () => (_: unknown, context: Parameters<typeof requirePrincipal>[0]) => ({
      user: { subjectId: requirePrincipal(context).subjectId },
    }),
  });
  const isOwn = (rpc: string) => rpc.startsWith(`${IAMAuthService.typeName}/`);
  const server = await createServer({
    configuration: loadServiceConfig(file),
    bindings: [bindIAMAuthService(handlers)],
    routes: {
      ...allRoutes,
      paths: [],
      routes: allRoutes.routes.filter(({ entry }) => isOwn(entry.rpc)),
    } as unknown as RouteDocument,
  });
  await server.start();
  return { origin, stop: () => server.stop() };
}
