/**
 * The embedded engine at a million relationships in several shapes: 20,000
 * groups nested eight deep, 80,000 users. `node bench/authz.ts` runs it alone.
 */
import { setImmediate } from "node:timers/promises";
import { createEmbeddedEngine, createMemoryStore } from "../src/authz/embedded/index.ts";
import type { AuthorizationEngine, CheckRequest } from "../src/authz/engine.ts";
import type { Relationship } from "../src/authz/relationship.ts";
import type { RelationshipStore } from "../src/authz/relationship-store.ts";
import { parseModel } from "../src/model/index.ts";
import { limit, measureChecks, measureLookups } from "./authz-measures.ts";
import {
  DOCUMENTS,
  FOLDERED,
  NESTED,
  RELATIONSHIPS,
  type Shape,
  userOf,
  WIDE,
} from "./authz-shapes.ts";

/** Checks, lookups, memory and load time of the embedded engine, against their limits. */
export async function benchAuthz(): Promise<void> {
  await benchFolders();
  for (const shape of [NESTED, WIDE]) {
    const random = generator(20_261_121);
    const { engine } = await loadShape(shape, random);
    for (const { permission, pair } of shape.checks) {
      await measureChecks(engine, `${permission} of anybody`, () => {
        const [type, id, user] = pair(random);
        return { resource: { type, id }, permission, subject: { type: "user", id: user } };
      });
    }
    await engine.close();
  }
}

async function benchFolders(): Promise<void> {
  const random = generator(20_261_121);
  const { engine } = await loadShape(FOLDERED, random);
  const doc = () => `d${Math.floor(random() * DOCUMENTS)}`;
  for (const permission of ["view", "edit"]) {
    const next = () => check(doc(), permission, userOf(random));
    await measureChecks(engine, `doc#${permission} of anybody`, next);
  }
  const held: CheckRequest[] = [];
  for (let index = 0; index < 400; index++) {
    const id = doc();
    const found = await engine.lookupSubjects({
      resource: { type: "doc", id },
      permission: "view",
      subjectType: "user",
    });
    for (const { id: user } of found.items.slice(0, 100)) held.push(check(id, "view", user));
  }
  await measureChecks(engine, "doc#view that is held", () => {
    const { resource, permission, subject } = held[
      Math.floor(random() * held.length)
    ] as CheckRequest;
    return check(resource.id, permission, subject.id);
  });
  await measureLookups(engine, random);
  await engine.close();
}

async function loadShape({ name, schema, relationships }: Shape, random: () => number) {
  const { model } = parseModel(schema, "bench.zed");
  const loaded = await loadEngine(async () =>
    createEmbeddedEngine({ model, store: streaming(relationships(random)) }),
  );
  process.stdout.write(`\nauthz: ${RELATIONSHIPS} relationships in one process: ${name}\n`);
  limit("load, of 5 s", loaded.load / 1000, 5);
  limit("bytes a relationship, of 400", loaded.bytes / RELATIONSHIPS, 400);
  return loaded;
}

async function loadEngine(create: () => Promise<AuthorizationEngine>) {
  await collect();
  const before = process.memoryUsage();
  const start = performance.now();
  const engine = await create();
  const load = performance.now() - start;
  await collect();
  const after = process.memoryUsage();
  const bytes = after.heapUsed + after.arrayBuffers - before.heapUsed - before.arrayBuffers;
  return { engine, load, bytes };
}

/** The relationships in batches, as a store reads them; nothing of them is kept. */
function streaming(relationships: Iterable<Relationship>): RelationshipStore {
  const store = createMemoryStore();
  return Object.assign(Object.create(store) as RelationshipStore, {
    id: "bench",
    sequence: 0,
    close: async () => {},
    async *load() {
      let batch: Relationship[] = [];
      for (const relationship of relationships) {
        batch.push(relationship);
        if (batch.length < 10_000) continue;
        yield batch;
        batch = [];
      }
      yield batch;
    },
  });
}

function check(id: string, permission: string, user: string): CheckRequest {
  return { resource: { type: "doc", id }, permission, subject: { type: "user", id: user } };
}

/** Twice: what an earlier engine held off the heap goes only after a turn. */
async function collect(): Promise<void> {
  globalThis.gc?.();
  await setImmediate();
  globalThis.gc?.();
}

/** Numbers from 0 to 1 that are the same in every run. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    return ((state ^ (state >>> 15)) >>> 0) / 0x1_0000_0000;
  };
}

if (import.meta.main) await benchAuthz();
