import { v1 } from "@authzed/authzed-node";
import type { SpicedbEngine } from "../../../../src/authz/spicedb/index.ts";
import { type SpicedbServer, startSpicedb } from "../../../support/spicedb.ts";
import { engineOf, relationship, request } from "../fixture.ts";

/** A SpiceDB with a schema and relationships, and a client that bypasses the engine. */
export interface RawSpicedb {
  readonly server: SpicedbServer;
  readonly client: v1.ZedPromiseClientInterface;
}

/** Starts a SpiceDB, and stops it after the work. */
export async function withRawSpicedb(
  schema: string,
  stored: readonly string[],
  work: (raw: RawSpicedb) => Promise<void>,
): Promise<void> {
  const server = await startSpicedb();
  const insecure = v1.ClientSecurity.INSECURE_PLAINTEXT_CREDENTIALS;
  const client = v1.NewClient(server.token, server.endpoint, insecure);
  try {
    await client.promises.writeSchema({ schema });
    const updates = stored.map(touch);
    await client.promises.writeRelationships(v1.WriteRelationshipsRequest.create({ updates }));
    await work({ server, client: client.promises });
  } finally {
    client.close();
    await server.stop();
  }
}

/** The same, with the engine over it. */
export function withSpicedb(
  schema: string,
  stored: readonly string[],
  work: (engine: SpicedbEngine, client: v1.ZedPromiseClientInterface) => Promise<void>,
): Promise<void> {
  return withRawSpicedb(schema, stored, async ({ server, client }) => {
    const engine = await engineOf(server, schema);
    try {
      await work(engine, client);
    } finally {
      await engine.close();
    }
  });
}

/** The message of a test that fails because SpiceDB has fixed its fault. */
export function onceRight(file: string): string {
  return `this SpiceDB is right: remove src/authz/spicedb/workarounds/${file} with its calls, this test, and what docs/authorization.md says of it`;
}

/** The newest state. */
export const consistency: v1.Consistency = {
  requirement: { oneofKind: "fullyConsistent", fullyConsistent: true },
};

/** A check as SpiceDB's message. */
export function toMessage(text: string) {
  const { resource, permission, subject } = request(text);
  return {
    resource: { objectType: resource.type, objectId: resource.id },
    permission,
    subject: {
      object: { objectType: subject.type, objectId: subject.id },
      optionalRelation: subject.relation ?? "",
    },
  };
}

/** The decision of SpiceDB itself. */
export async function isAllowed(
  client: v1.ZedPromiseClientInterface,
  text: string,
): Promise<boolean> {
  const { permissionship } = await client.checkPermission(
    v1.CheckPermissionRequest.create({ consistency, ...toMessage(text) }),
  );
  return permissionship === v1.CheckPermissionResponse_Permissionship.HAS_PERMISSION;
}

/** The resources of a type that SpiceDB itself finds; sorted. */
export async function resources(
  client: v1.ZedPromiseClientInterface,
  text: string,
): Promise<string[]> {
  const { resource, permission, subject } = toMessage(text);
  const found = await client.lookupResources(
    v1.LookupResourcesRequest.create({
      ...{ consistency, permission, subject, resourceObjectType: resource.objectType },
    }),
  );
  return found.map(({ resourceObjectId }) => resourceObjectId).sort();
}

function touch(text: string): v1.RelationshipUpdate {
  const { relation } = relationship(text);
  const { resource, subject } = toMessage(text);
  return {
    operation: v1.RelationshipUpdate_Operation.TOUCH,
    relationship: { resource, relation, subject },
  };
}
