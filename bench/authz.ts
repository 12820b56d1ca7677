/**
 * The embedded engine at a million relationships: 20,000 groups nested eight
 * deep, folders and documents, 80,000 users. `node bench/authz.ts` runs it alone.
 */
import { createEmbeddedEngine, createMemoryStore } from "../src/authz/embedded/index.ts";
import type { AuthorizationEngine, CheckRequest } from "../src/authz/engine.ts";
import type { Relationship } from "../src/authz/relationship.ts";
import type { RelationshipStore } from "../src/authz/relationship-store.ts";
import { parseModel } from "../src/model/index.ts";

const GROUPS = 20_000;
const USERS = 80_000;
const FOLDERS = 30_000;
const DOCUMENTS = 300_000;
const RELATIONSHIPS = 1_000_000;
const DEPTH = 8;
const CHECKS = 200_000;
const BATCH = 1_000;
const LOOKUPS = 2_000;

const SCHEMA = `definition user {}
definition group {
  relation member: user | group#member
}
definition folder {
  relation parent: folder
  relation viewer: user | group#member
  permission view = viewer + parent->view
}
definition doc {
  relation folder: folder
  relation reader: user | group#member
  relation banned: user
  permission view = reader + folder->view
  permission edit = reader - banned
}
`;

/** Checks, lookups, memory and load time of the embedded engine, against their limits. */
export async function benchAuthz(): Promise<void> {
  const random = generator(20_261_121);
  const { model } = parseModel(SCHEMA, "bench.zed");
  const { engine, load, bytes } = await loadEngine(async () =>
    createEmbeddedEngine({ model, store: streaming(relationships(random)) }),
  );
  process.stdout.write(
    `\nauthz: ${RELATIONSHIPS} relationships, ${GROUPS} groups ${DEPTH} deep, in one process\n`,
  );
  limit("load, of 5 s", load / 1000, 5);
  limit("bytes a relationship, of 400", bytes / RELATIONSHIPS, 400);
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

async function loadEngine(create: () => Promise<AuthorizationEngine>) {
  collect();
  const before = process.memoryUsage();
  const start = performance.now();
  const engine = await create();
  const load = performance.now() - start;
  collect();
  const after = process.memoryUsage();
  const bytes = after.heapUsed + after.arrayBuffers - before.heapUsed - before.arrayBuffers;
  return { engine, load, bytes };
}

async function measureChecks(
  engine: AuthorizationEngine,
  what: string,
  next: () => CheckRequest,
): Promise<void> {
  for (let index = 0; index < CHECKS / 10; index++) await engine.check(next());
  // The rate: requests are made a batch ahead, so that making them is not timed.
  let allowed = 0;
  let total = 0;
  for (let batch = 0; batch < CHECKS / BATCH; batch++) {
    const requests = Array.from({ length: BATCH }, next);
    const begin = performance.now();
    for (const request of requests) if ((await engine.check(request)).allowed) allowed++;
    total += performance.now() - begin;
  }
  // The tail: each check by itself.
  const times = new Float64Array(CHECKS);
  for (let index = 0; index < CHECKS; index++) {
    const request = next();
    const begin = process.hrtime.bigint();
    await engine.check(request);
    times[index] = Number(process.hrtime.bigint() - begin) / 1000;
  }
  times.sort();
  const share = ((100 * allowed) / CHECKS).toFixed(0);
  const rate = (CHECKS / total) * 1e3;
  process.stdout.write(
    `  ${what}: ${rate.toFixed(0)} checks a second, ${share}% allowed, p50 ${at(times, 0.5).toFixed(1)} us\n`,
  );
  limit("300,000 / checks a second", 300_000 / rate, 1);
  limit("p99 in us", at(times, 0.99), 20);
}

async function measureLookups(engine: AuthorizationEngine, random: () => number): Promise<void> {
  for (const permission of ["view", "edit"]) {
    const times: number[] = [];
    let results = 0;
    for (let index = 0; times.length < LOOKUPS && index < LOOKUPS * 4; index++) {
      const subject = { type: "user", id: userOf(random) };
      const begin = performance.now();
      const page = await engine.lookupResources({ resourceType: "doc", permission, subject });
      const time = performance.now() - begin;
      if (page.nextCursor !== undefined) continue;
      times.push(time);
      results += page.items.length;
    }
    times.sort((left, right) => left - right);
    const mean = (results / times.length).toFixed(0);
    process.stdout.write(
      `  LookupResources doc#${permission}: ${times.length} users of at most 1,000 results, ${mean} on average\n`,
    );
    limit("p95 in ms", at(times, 0.95), 2);
  }
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

function* relationships(random: () => number): Generator<Relationship> {
  let count = 0;
  const to = (type: string, id: string, relation: string, subject: Relationship["subject"]) => {
    count++;
    return { resource: { type, id }, relation, subject };
  };
  const group = () => `g${Math.floor(random() * GROUPS)}`;
  const member = (id: string) => ({ type: "group", id, relation: "member" });
  // Trees of groups: layer upon layer, each group in one of the layer above.
  const layer = GROUPS / DEPTH;
  for (let index = layer; index < GROUPS; index++) {
    const above = Math.floor(index / layer - 1) * layer + Math.floor(random() * layer);
    yield to("group", `g${above}`, "member", member(`g${index}`));
  }
  for (let index = 0; index < USERS * 2; index++) {
    yield to("group", group(), "member", { type: "user", id: `u${index % USERS}` });
  }
  for (let index = 1; index < FOLDERS; index++) {
    const parent = { type: "folder", id: `f${Math.floor(index / 4)}` };
    yield to("folder", `f${index}`, "parent", parent);
    if (index > 100)
      yield to("folder", `f${index}`, "viewer", { type: "user", id: userOf(random) });
  }
  for (let index = 0; index < DOCUMENTS; index++) {
    const folder = { type: "folder", id: `f${Math.floor(random() * FOLDERS)}` };
    yield to("doc", `d${index}`, "folder", folder);
    if (index % 10 === 0)
      yield to("doc", `d${index}`, "banned", { type: "user", id: userOf(random) });
    if (index % 2 === 0) yield to("doc", `d${index}`, "reader", member(group()));
  }
  while (count < RELATIONSHIPS) {
    const id = `d${Math.floor(random() * DOCUMENTS)}`;
    yield to("doc", id, "reader", { type: "user", id: userOf(random) });
  }
}

function check(id: string, permission: string, user: string): CheckRequest {
  return { resource: { type: "doc", id }, permission, subject: { type: "user", id: user } };
}

function userOf(random: () => number): string {
  return `u${Math.floor(random() * USERS)}`;
}

function at(sorted: ArrayLike<number>, quantile: number): number {
  return sorted[Math.floor(sorted.length * quantile)] ?? Number.NaN;
}

function collect(): void {
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

function limit(what: string, value: number, most: number): void {
  const verdict = value <= most ? "holds" : "DOES NOT HOLD";
  process.stdout.write(
    `  ${what.padEnd(34)} ${value.toFixed(3).padStart(9)}    limit ${most}  ${verdict}\n`,
  );
}

if (import.meta.main) await benchAuthz();
