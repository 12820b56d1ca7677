/** A real SpiceDB on PostgreSQL with the relationships of the platform, and the checks that it is asked for. */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { v1 } from "@authzed/authzed-node";
import pg from "pg";
import type { CheckRequest } from "../../src/authz/engine/requests.ts";
import type { Relationship } from "../../src/model/relationship.ts";
import { openDatastore } from "../../test/authz/spicedb/postgres-datastore.ts";
import { startSpicedb } from "../../test/support/spicedb.ts";
import { loadGrpc } from "../grpc-load.ts";
import { MODEL } from "./iam-service.ts";
import { platformRelationships } from "./platform-relationships.ts";

/** How many relationships an import has, which may take 30 s, and each of its messages. */
const IMPORT = 25_000;
const BATCH = 1000;
const CHECK_RPC = "/authzed.api.v1.PermissionsService/CheckPermission";

/** A SpiceDB that runs, and has all relationships. */
export interface SpicedbPlatform {
  /** Makes checks, many at once. @returns how many were answered */
  load(milliseconds: number, checks: readonly CheckRequest[]): Promise<number>;
  /** Whether a check is allowed. */
  allows(check: CheckRequest): Promise<boolean>;
  stop(): Promise<void>;
}

/** Starts it, and imports the relationships by its own bulk import. */
export async function startSpicedbPlatform(): Promise<SpicedbPlatform> {
  const datastore = await openDatastore();
  const server = await startSpicedb({ postgresUrl: datastore.url });
  const { endpoint, token } = server;
  const security = v1.ClientSecurity.INSECURE_PLAINTEXT_CREDENTIALS;
  const client = v1.NewClient(token, endpoint, security);
  const stop = async () => {
    client.close();
    await server.stop();
    await datastore.remove();
  };
  try {
    const schema = readFileSync(MODEL, "utf8");
    await client.promises.writeSchema(v1.WriteSchemaRequest.create({ schema }));
    await importAll(client);
    await analyze(datastore.url);
  } catch (error) {
    await stop();
    throw error;
  }
  const headers = {
    ":method": "POST",
    ":scheme": "http",
    ":path": CHECK_RPC,
    ":authority": "localhost",
    "content-type": "application/grpc+proto",
    te: "trailers",
    authorization: `Bearer ${token}`,
  };
  return {
    load(milliseconds, checks) {
      const messages = checks.map((check) => v1.CheckPermissionRequest.toBinary(requestOf(check)));
      return loadGrpc(Number(endpoint.split(":")[1]), { headers, messages }, milliseconds);
    },
    async allows(check) {
      const { permissionship } = await client.promises.checkPermission(requestOf(check));
      return permissionship === v1.CheckPermissionResponse_Permissionship.HAS_PERMISSION;
    },
    stop,
  };
}

async function importAll(client: v1.ZedClientInterface): Promise<void> {
  let batch: v1.Relationship[] = [];
  for (const relationship of platformRelationships()) {
    if (batch.push(storedForm(relationship)) < IMPORT) continue;
    await importSome(client, batch);
    batch = [];
  }
  if (batch.length > 0) await importSome(client, batch);
}

/** One import, which is a transaction. */
async function importSome(
  client: v1.ZedClientInterface,
  all: readonly v1.Relationship[],
): Promise<void> {
  let done: (error: Error | null) => void = () => undefined;
  const ended = new Promise<void>((resolve, reject) => {
    done = (error) => (error === null ? resolve() : reject(error));
  });
  ended.catch(() => undefined);
  const stream = client.importBulkRelationships((error) => done(error));
  for (let at = 0; at < all.length; at += BATCH) {
    const relationships = all.slice(at, at + BATCH);
    const message = v1.ImportBulkRelationshipsRequest.create({ relationships });
    if (!stream.write(message)) await Promise.race([once(stream, "drain"), ended]);
  }
  stream.end();
  await ended;
}

/** PostgreSQL does this by itself later; without it, it would choose slow plans for a while. */
async function analyze(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query("VACUUM ANALYZE");
  } finally {
    await client.end();
  }
}

function storedForm({ resource, relation, subject }: Relationship): v1.Relationship {
  return v1.Relationship.create({
    resource: { objectType: resource.type, objectId: resource.id },
    relation,
    subject: {
      object: { objectType: subject.type, objectId: subject.id },
      optionalRelation: subject.relation ?? "",
    },
  });
}

/** As svc-iam decides on all writes before, so does SpiceDB if it is asked to. */
function requestOf({ resource, permission, subject }: CheckRequest): v1.CheckPermissionRequest {
  return v1.CheckPermissionRequest.create({
    consistency: { requirement: { oneofKind: "fullyConsistent", fullyConsistent: true } },
    resource: { objectType: resource.type, objectId: resource.id },
    permission,
    subject: { object: { objectType: subject.type, objectId: subject.id }, optionalRelation: "" },
  });
}
