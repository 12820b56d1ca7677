/**
 * Both engines on one shape: groups eight deep, folders, documents. The SpiceDB
 * is a real one on this machine, on its memory store and over gRPC, so the shape
 * is small; skipped by name where there is none.
 */
import { createEmbeddedEngine, createMemoryStore } from "../src/authz/embedded/index.ts";
import type { AuthorizationEngine, CheckRequest } from "../src/authz/engine.ts";
import type { Relationship } from "../src/authz/relationship.ts";
import { createSpicedbEngine } from "../src/authz/spicedb/index.ts";
import { parseModel } from "../src/model/index.ts";
import { findSpicedb, startSpicedb } from "../test/support/spicedb.ts";

const GROUPS = 400;
const DEPTH = 8;
const USERS = 1_000;
const DOCUMENTS = 2_000;
const CHECKS = { embedded: 20_000, spicedb: 400 } as const;

const SCHEMA = `definition user {}
definition group {
  relation member: user | group#member
}
definition document {
  relation reader: user | group#member
  permission view = reader
}
`;

/** Prints checks a second and the percentiles of both. */
export async function benchAuthzSpicedb(): Promise<void> {
  if (findSpicedb() === undefined) {
    process.stdout.write(
      "\nauthz-spicedb: SKIPPED, there is no SpiceDB: set SPICEDB, or run scripts/build-spicedb.sh\n",
    );
    return;
  }
  const { model } = parseModel(SCHEMA, "bench.zed");
  const all = [...relationships()];
  const server = await startSpicedb();
  try {
    const embedded = await createEmbeddedEngine({ model, store: createMemoryStore() });
    const { endpoint, token } = server;
    const spicedb = await createSpicedbEngine({ endpoint, token, insecure: true, model });
    await spicedb.writeSchema(SCHEMA);
    process.stdout.write(
      `\nauthz-spicedb: ${all.length} relationships, groups ${DEPTH} deep, random pairs\n`,
    );
    for (const engine of [embedded, spicedb]) {
      for (let at = 0; at < all.length; at += 1000) {
        const updates = all
          .slice(at, at + 1000)
          .map((relationship) => ({ operation: "TOUCH" as const, relationship }));
        await engine.writeRelationships({ updates });
      }
      for (const callers of [1, 16]) await measureChecks(engine, callers);
    }
    await Promise.all([embedded.close(), spicedb.close()]);
  } finally {
    await server.stop();
  }
}

async function measureChecks(engine: AuthorizationEngine, callers: number): Promise<void> {
  const checks = CHECKS[engine.kind];
  const times: number[] = [];
  let next = 0;
  const begin = performance.now();
  await Promise.all(
    Array.from({ length: callers }, async () => {
      while (next < checks) {
        const request = requestOf(next++);
        const start = performance.now();
        await engine.check(request);
        times.push(performance.now() - start);
      }
    }),
  );
  const rate = (checks / (performance.now() - begin)) * 1000;
  times.sort((left, right) => left - right);
  const at = (quantile: number) => (times[Math.floor(times.length * quantile)] ?? 0).toFixed(3);
  process.stdout.write(
    `  ${engine.kind.padEnd(9)} ${String(callers).padStart(2)} callers ${rate.toFixed(0).padStart(8)} checks a second, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms\n`,
  );
}

function requestOf(index: number): CheckRequest {
  return {
    resource: { type: "document", id: `d${(index * 7919) % DOCUMENTS}` },
    permission: "view",
    subject: { type: "user", id: `u${(index * 104_729) % USERS}` },
  };
}

function* relationships(): Generator<Relationship> {
  const group = (index: number) => ({ type: "group", id: `g${index}` });
  const layer = GROUPS / DEPTH;
  for (let index = layer; index < GROUPS; index++) {
    const subject = { ...group(index), relation: "member" };
    yield { resource: group(index - layer), relation: "member", subject };
  }
  for (let index = 0; index < USERS; index++) {
    const subject = { type: "user", id: `u${index}` };
    yield { resource: group((index * 31) % GROUPS), relation: "member", subject };
  }
  for (let index = 0; index < DOCUMENTS; index++) {
    const resource = { type: "document", id: `d${index}` };
    const subject = { ...group((index * 17) % GROUPS), relation: "member" };
    yield { resource, relation: "reader", subject };
  }
}

if (import.meta.main) await benchAuthzSpicedb();
