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

/** A million relationships of one form, and the checks that are made of them. */
interface Shape {
  readonly name: string;
  readonly schema: string;
  readonly relationships: (random: () => number) => Generator<Relationship>;
  readonly checks: readonly {
    readonly permission: string;
    /** A random resource and user; most are denied. */
    readonly pair: (random: () => number) => readonly [type: string, id: string, user: string];
  }[];
}

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

function userset(type: string, id: string, relation: string, group: string): Relationship {
  const subject = { type: "group", id: group, relation: "member" };
  return { resource: { type, id }, relation, subject };
}

function relationship(
  ...[type, id, relation, subjectType, subjectId]: [string, string, string, string, string]
): Relationship {
  return {
    resource: { type, id },
    relation,
    subject: { type: subjectType, id: subjectId },
  };
}

function groupOf(random: () => number): string {
  return `g${Math.floor(random() * GROUPS)}`;
}

/** Trees of groups: layer upon layer, each group in one of the layer above; and their users. */
function* groups(random: () => number, memberships: number): Generator<Relationship> {
  const layer = GROUPS / DEPTH;
  for (let index = layer; index < GROUPS; index++) {
    const above = Math.floor(index / layer - 1) * layer + Math.floor(random() * layer);
    yield userset("group", `g${above}`, "member", `g${index}`);
  }
  for (let index = 0; index < memberships; index++) {
    yield relationship("group", groupOf(random), "member", "user", `u${index % USERS}`);
  }
}

/** The first million of some, for random ones may be the same. */
function* million(relationships: Generator<Relationship>): Generator<Relationship> {
  let count = 0;
  for (const relationship of relationships) {
    if (++count > RELATIONSHIPS) return;
    yield relationship;
  }
}

/** Documents in a tree of folders, users in two groups. */
const FOLDERED: Shape = {
  name: `${GROUPS} groups ${DEPTH} deep, folders and documents`,
  schema: SCHEMA,
  checks: [],
  relationships: (random) => million(folders(random)),
};

function* folders(random: () => number): Generator<Relationship> {
  yield* groups(random, USERS * 2);
  for (let index = 1; index < FOLDERS; index++) {
    const id = `f${index}`;
    yield relationship("folder", id, "parent", "folder", `f${Math.floor(index / 4)}`);
    if (index > 100) yield relationship("folder", id, "viewer", "user", userOf(random));
  }
  for (let index = 0; index < DOCUMENTS; index++) {
    const id = `d${index}`;
    const folder = `f${Math.floor(random() * FOLDERS)}`;
    yield relationship("doc", id, "folder", "folder", folder);
    if (index % 10 === 0) yield relationship("doc", id, "banned", "user", userOf(random));
    if (index % 2 === 0) yield userset("doc", id, "reader", groupOf(random));
  }
  for (;;) {
    const id = `d${Math.floor(random() * DOCUMENTS)}`;
    yield relationship("doc", id, "reader", "user", userOf(random));
  }
}

/** Documents that groups alone may read, users in six groups. */
const NESTED: Shape = {
  name: `${GROUPS} groups ${DEPTH} deep, users in six of them, documents of groups`,
  schema: `definition user {}
definition group {
  relation member: user | group#member
}
definition doc {
  relation viewer: user | group#member
  relation editor: user | group#member
  relation banned: user | group#member
  permission edit = editor - banned
  permission view = (viewer + edit) - banned
}
`,
  relationships: (random) => million(nested(random)),
  checks: ["view", "edit"].map((permission) => ({
    permission,
    pair: (random) => ["doc", `d${Math.floor(random() * DOCUMENTS)}`, userOf(random)],
  })),
};

function* nested(random: () => number): Generator<Relationship> {
  yield* groups(random, USERS * 6);
  for (let index = 0; ; index++) {
    const id = `d${index % DOCUMENTS}`;
    const relation = ["viewer", "editor", "viewer", "banned"][index % 4] as string;
    yield userset("doc", id, relation, groupOf(random));
  }
}

const ITEMS = 430_000;
const RELATIONS = Array.from({ length: 12 }, (_, index) => `held${index}`);

/** A type of many relations, of which each object has two. */
const WIDE: Shape = {
  name: `${ITEMS} objects of a type with ${RELATIONS.length} relations`,
  schema: `definition user {}
definition group {
  relation member: user | group#member
}
definition item {
${RELATIONS.map((relation) => `  relation ${relation}: user | group#member`).join("\n")}
  permission view = ${RELATIONS.join(" + ")}
}
`,
  relationships: (random) => million(wide(random)),
  checks: [
    {
      permission: "view",
      pair: (random) => ["item", `i${Math.floor(random() * ITEMS)}`, userOf(random)],
    },
  ],
};

function* wide(random: () => number): Generator<Relationship> {
  yield* groups(random, USERS);
  const relation = (index: number) => RELATIONS[index % RELATIONS.length] as string;
  for (let index = 0; ; index++) {
    const id = `i${index % ITEMS}`;
    yield relationship("item", id, relation(index), "user", userOf(random));
    yield userset("item", id, relation(index + 5), groupOf(random));
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

function limit(what: string, value: number, most: number): void {
  const verdict = value <= most ? "holds" : "DOES NOT HOLD";
  process.stdout.write(
    `  ${what.padEnd(34)} ${value.toFixed(3).padStart(9)}    limit ${most}  ${verdict}\n`,
  );
}

if (import.meta.main) await benchAuthz();
