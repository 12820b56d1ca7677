/**
 * Both engines on one shape: groups eight deep, folders, documents. The SpiceDB is a real one on
 * this machine, over gRPC and on PostgreSQL, where it stores its data; skipped, and named, if
 * there is none.
 */
import { createEmbeddedEngine, createMemoryStore } from "../src/authz/embedded/index.ts";
import type { AuthorizationEngine } from "../src/authz/engine/engine.ts";
import type { CheckRequest } from "../src/authz/engine/requests.ts";
import { createSpicedbEngine } from "../src/authz/spicedb/index.ts";
import { parseModel } from "../src/model/index.ts";
import type { Relationship } from "../src/model/relationship.ts";
import { openDatastore } from "../test/authz/spicedb/postgres-datastore.ts";
import { postgresPrograms } from "../test/support/postgres.ts";
import { findSpicedb, startSpicedb } from "../test/support/spicedb.ts";

const GROUPS = 1_200;
const DEPTH = 8;
const USERS = 4_000;
const FOLDERS = 800;
const DOCUMENTS = 12_000;
const CALLERS = [1, 16];
/** How long each measurement takes at most, in milliseconds and in checks. */
const LIMIT = { milliseconds: 6_000, checks: 200_000 };

const SCHEMA = `definition user {}
definition group {
  relation member: user | group#member
}
definition folder {
  relation parent: folder
  relation viewer: group#member
  permission view = viewer + parent->view
}
definition document {
  relation folder: folder
  relation reader: user | group#member
  permission view = reader + folder->view
}
`;

/** Prints checks a second and the percentiles of both. */
export async function benchAuthzSpicedb(): Promise<void> {
  const absent = whatIsAbsent();
  if (absent !== undefined) {
    process.stdout.write(`\nauthz-spicedb: SKIPPED, ${absent}\n`);
    return;
  }
  const { model } = parseModel(SCHEMA, "bench.zed");
  const all = [...relationships()];
  process.stdout.write(
    `\nauthz-spicedb: ${all.length} relationships, groups and folders ${DEPTH} deep, random pairs\n`,
  );
  const embedded = await createEmbeddedEngine({ model, store: createMemoryStore() });
  await measure("embedded, in process", embedded, all);
  await embedded.close();

  const datastore = await openDatastore();
  const server = await startSpicedb({ postgresUrl: datastore.url });
  try {
    const { endpoint, token } = server;
    const options = { endpoint, token, insecure: true, model, deadlineMs: 30_000 };
    const spicedb = await createSpicedbEngine(options);
    await spicedb.writeSchema(SCHEMA);
    await measure("SpiceDB on PostgreSQL", spicedb, all);
    await spicedb.close();
  } finally {
    await server.stop();
    await datastore.remove();
  }
}

/** Why there is no SpiceDB on PostgreSQL to compare with; undefined if there is one. */
export function whatIsAbsent(): string | undefined {
  if (findSpicedb() === undefined) {
    return "there is no SpiceDB: set SPICEDB, or run scripts/build-spicedb.sh";
  }
  if (process.env["POSTGRES_URL"] || postgresPrograms() !== undefined) return undefined;
  return "there is no PostgreSQL for SpiceDB: set POSTGRES_URL, or install it";
}

async function measure(
  name: string,
  engine: AuthorizationEngine,
  all: readonly Relationship[],
): Promise<void> {
  const begin = performance.now();
  for (let at = 0; at < all.length; at += 1000) {
    const updates = all
      .slice(at, at + 1000)
      .map((relationship) => ({ operation: "TOUCH" as const, relationship }));
    await engine.writeRelationships({ updates });
  }
  const seconds = ((performance.now() - begin) / 1000).toFixed(1);
  process.stdout.write(`  ${name}: ${all.length} relationships loaded in ${seconds} s\n`);
  for (const callers of CALLERS) await measureChecks(engine, callers);
}

async function measureChecks(engine: AuthorizationEngine, callers: number): Promise<void> {
  const times: number[] = [];
  let allowed = 0;
  let next = 0;
  const begin = performance.now();
  const goesOn = () =>
    next < LIMIT.checks && (next % 16 > 0 || performance.now() - begin < LIMIT.milliseconds);
  await Promise.all(
    Array.from({ length: callers }, async () => {
      while (goesOn()) {
        const request = requestOf(next++);
        const start = performance.now();
        if ((await engine.check(request)).allowed) allowed++;
        times.push(performance.now() - start);
      }
    }),
  );
  const rate = (times.length / (performance.now() - begin)) * 1000;
  times.sort((left, right) => left - right);
  const at = (quantile: number) => (times[Math.floor(times.length * quantile)] ?? 0).toFixed(3);
  const share = ((100 * allowed) / times.length).toFixed(0);
  process.stdout.write(
    `    ${String(callers).padStart(2)} callers ${rate.toFixed(0).padStart(8)} checks a second, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms (${times.length} checks, ${share}% allowed)\n`,
  );
}

/** A pair at random, the same in each run. */
function requestOf(index: number): CheckRequest {
  return {
    resource: { type: "document", id: `d${(index * 7919) % DOCUMENTS}` },
    permission: "view",
    subject: { type: "user", id: `u${(index * 104_729 + (index >> 3)) % USERS}` },
  };
}

function* relationships(): Generator<Relationship> {
  yield* nested("group", GROUPS, "member", "member");
  for (let index = 0; index < USERS; index++) {
    const subject = { type: "user", id: `u${index}` };
    yield {
      resource: { type: "group", id: `g${(index * 31) % GROUPS}` },
      relation: "member",
      subject,
    };
  }
  yield* nested("folder", FOLDERS, "parent");
  for (let index = 0; index < FOLDERS; index++) {
    const subject = { type: "group", id: `g${(index * 13) % GROUPS}`, relation: "member" };
    yield { resource: { type: "folder", id: `f${index}` }, relation: "viewer", subject };
  }
  for (let index = 0; index < DOCUMENTS; index++) {
    const resource = { type: "document", id: `d${index}` };
    const subject = { type: "group", id: `g${(index * 17) % GROUPS}`, relation: "member" };
    yield { resource, relation: "reader", subject };
    const folder = { type: "folder", id: `f${(index * 11) % FOLDERS}` };
    yield { resource, relation: "folder", subject: folder };
  }
}

/** Chains of a type, `DEPTH` long. */
function* nested(
  type: string,
  count: number,
  relation: string,
  member?: string,
): Generator<Relationship> {
  const initial = type.charAt(0);
  const layer = count / DEPTH;
  for (let index = layer; index < count; index++) {
    const [outer, inner] = [`${initial}${index - layer}`, `${initial}${index}`];
    yield member === undefined
      ? { resource: { type, id: inner }, relation, subject: { type, id: outer } }
      : { resource: { type, id: outer }, relation, subject: { type, id: inner, relation: member } };
  }
}

if (import.meta.main) await benchAuthzSpicedb();
