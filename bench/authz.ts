/**
 * The embedded engine at a million relationships in several shapes: 20,000
 * groups nested eight deep, 80,000 users. `node bench/authz.ts` runs it alone.
 */
import { setImmediate } from "node:timers/promises";
import { createEmbeddedEngine, createMemoryStore } from "../src/authz/embedded/index.ts";
import type { AuthorizationEngine } from "../src/authz/engine/engine.ts";
import type { RelationshipStore } from "../src/authz/engine/relationship-store.ts";
import type { CheckRequest } from "../src/authz/engine/requests.ts";
import { parseModel } from "../src/model/index.ts";
import type { Relationship } from "../src/model/relationship.ts";
import { measureChecks, measureLookups } from "./authz-measures.ts";
import {
  DOCUMENTS,
  FOLDERED,
  NESTED,
  RELATIONSHIPS,
  type Shape,
  userOf,
  WIDE,
} from "./authz-shapes.ts";
import { MapPeer } from "./map-peer.ts";
import { atMost } from "./verdict.ts";

/** Of filling a `Map` with a million strings. */
const LOAD_LIMIT = 6;
/** Of an entry of that `Map`. */
const BYTES_LIMIT = 2.6;
/** Of a thousand look-ups. */
const LOOKUPS_LIMIT = 0.5;

/** Checks, lookups, memory and load time of the embedded engine, beside a `Map` in the same process. */
export async function benchAuthz(): Promise<void> {
  const peer = await MapPeer.fill(collect);
  process.stdout.write(
    `\nauthz: a Map of a million strings: filled in ${peer.fillMs.toFixed(0)} ms, ${peer.entryBytes.toFixed(0)} bytes an entry\n`,
  );
  await benchFolders(peer);
  for (const shape of [NESTED, WIDE]) {
    const random = generator(20_261_121);
    const { engine } = await loadShape(shape, random, peer);
    for (const { permission, pair, limits } of shape.checks) {
      await measureChecks(engine, peer, random, {
        what: `${permission} of anybody`,
        limits,
        next: () => {
          const [type, id, user] = pair(random);
          return { resource: { type, id }, permission, subject: { type: "user", id: user } };
        },
      });
    }
    await engine.close();
  }
}

async function benchFolders(peer: MapPeer): Promise<void> {
  const random = generator(20_261_121);
  const { engine } = await loadShape(FOLDERED, random, peer);
  const doc = () => `d${Math.floor(random() * DOCUMENTS)}`;
  for (const [permission, limits] of [
    ["view", { rate: 0.43, p99: 2 }],
    ["edit", { rate: 0.57, p99: 1.4 }],
  ] as const) {
    await measureChecks(engine, peer, random, {
      what: `doc#${permission} of anybody`,
      limits,
      next: () => check(doc(), permission, userOf(random)),
    });
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
  await measureChecks(engine, peer, random, {
    what: "doc#view that is held",
    limits: { rate: 0.78, p99: 1.1 },
    next: () => {
      const index = Math.floor(random() * held.length);
      const { resource, permission, subject } = held[index] as CheckRequest;
      return check(resource.id, permission, subject.id);
    },
  });
  await measureLookups(engine, peer, random, LOOKUPS_LIMIT);
  await engine.close();
}

async function loadShape(
  { name, schema, relationships }: Shape,
  random: () => number,
  peer: MapPeer,
) {
  const { model } = parseModel(schema, "bench.zed");
  const loaded = await loadEngine(async () =>
    createEmbeddedEngine({ model, store: streaming(relationships(random)) }),
  );
  process.stdout.write(`\nauthz: ${RELATIONSHIPS} relationships in one process: ${name}\n`);
  atMost("load / filling a Map", loaded.load / peer.fillMs, LOAD_LIMIT);
  atMost("bytes of one / of a Map's", loaded.bytes / RELATIONSHIPS / peer.entryBytes, BYTES_LIMIT);
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
