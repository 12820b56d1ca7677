/**
 * Concurrent writers, readers and a watcher, while the engine is closed and opened again: their
 * results must equal those of some sequential order.
 */
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { createEmbeddedEngine } from "../../src/authz/embedded/index.ts";
import { parseRevision } from "../../src/authz/embedded/write/revision.ts";
import type { AuthorizationEngine } from "../../src/authz/engine/engine.ts";
import type {
  Change,
  CheckRequest,
  Precondition,
  Revision,
  WriteRequest,
} from "../../src/authz/engine/requests.ts";
import { parseModel } from "../../src/model/index.ts";
import type { Relationship } from "../../src/model/relationship.ts";
import { formatRelationship } from "../../src/model/relationship-text.ts";
import { runs } from "../support/effort.ts";
import { nested, viewer } from "./documents.ts";
import { Oracle } from "./embedded/oracle.ts";
import { RandomChoice } from "./embedded/random-choice.ts";
import { onPostgres } from "./on-postgres.ts";
import { openTarget, type StoreTarget } from "./store/store-target.ts";

const { model } = parseModel(
  `definition user {}
definition group {
  relation member: user | group#member
}
definition document {
  relation viewer: user | group#member
  relation banned: user
  permission view = viewer - banned
}
`,
  "documents.zed",
);
const DOCUMENTS = ["d0", "d1"];
const USERS = ["u0", "u1"];
const GROUPS = ["g0", "g1", "g2"];
const RELATIONSHIPS: readonly Relationship[] = [
  ...DOCUMENTS.flatMap((document) =>
    USERS.flatMap((user) => {
      const seen = viewer(document, user);
      return [seen, { ...seen, relation: "banned" }];
    }),
  ),
  ...DOCUMENTS.flatMap((document) =>
    GROUPS.map((id) => ({
      ...viewer(document, ""),
      subject: { type: "group", id, relation: "member" },
    })),
  ),
  ...GROUPS.flatMap((outer) => GROUPS.map((inner) => nested(outer, inner))),
  ...GROUPS.flatMap((group) =>
    USERS.map((id) => ({ ...nested(group, ""), subject: { type: "user", id } })),
  ),
];

/** The steps of a client, in order. */
type Step =
  | { readonly kind: "write"; readonly request: WriteRequest }
  | { readonly kind: "check"; readonly request: CheckRequest }
  | { readonly kind: "list" }
  | { readonly kind: "pause" };

/** A completed step, and the states between which it ran. */
interface Answered {
  readonly step: Step;
  readonly from: number;
  readonly to: number;
  /** The state of the answer; absent for an error. */
  readonly at?: number;
  readonly answer: unknown;
}

function randomStep(choice: RandomChoice): Step {
  const kind = choice.of(["write", "write", "write", "check", "check", "list", "pause"] as const);
  if (kind === "list" || kind === "pause") return { kind };
  if (kind === "check") {
    const resource = { type: "document", id: choice.of(DOCUMENTS) };
    const subject = { type: "user", id: choice.of(USERS) };
    return { kind, request: { resource, permission: "view", subject } };
  }
  const updates = choice.someOf(RELATIONSHIPS).slice(0, 1 + choice.below(3));
  const preconditions = choice.oneIn(4)
    ? [{ kind: choice.of(["MUST_MATCH", "MUST_NOT_MATCH"] as const), filter: filterOf(choice) }]
    : [];
  const operation = () => choice.of(["CREATE", "TOUCH", "DELETE"] as const);
  return {
    kind,
    request: {
      updates: [...updates, choice.of(RELATIONSHIPS)]
        .filter((relationship, index, all) => all.indexOf(relationship) === index)
        .map((relationship) => ({ operation: operation(), relationship })),
      preconditions,
    },
  };
}

function filterOf(choice: RandomChoice): Precondition["filter"] {
  const { resource, relation } = choice.of(RELATIONSHIPS);
  return { resourceType: resource.type, resourceId: resource.id, relation };
}

/** One run: an engine over a store, which several clients use, and which is closed and opened again. */
class Run {
  readonly answered: Answered[] = [];
  /** Interrupted writes, which may or may not have happened. */
  readonly doubtful: WriteRequest[] = [];
  readonly watched: Change[] = [];
  readonly #target: StoreTarget;
  #acknowledged = 0;

  constructor(target: StoreTarget) {
    this.#target = target;
  }

  async phase(clients: readonly (readonly Step[])[], closeAfter: number): Promise<void> {
    const engine = await this.#open();
    const head = headOf(engine);
    expect(head).toBeGreaterThanOrEqual(this.#acknowledged);
    const watch = this.#watch(engine);
    let answers = 0;
    let close: Promise<void> | undefined;
    const client = async (steps: readonly Step[]) => {
      for (const step of steps) {
        await this.#take(engine, step);
        if (++answers === closeAfter) close = engine.close();
      }
    };
    await Promise.all(clients.map(client));
    await (close ?? engine.close());
    await watch;
  }

  /** All stored changes, and the state at the end. */
  async end(): Promise<{ changes: Change[]; stored: string[] }> {
    const engine = await this.#open();
    const head = headOf(engine);
    const changes: Change[] = [];
    if (head > 0) {
      for await (const change of engine.watch(revisionAt(engine, 0))) {
        changes.push(change);
        if (sequenceOf(change.revision) === head) break;
      }
    }
    const { items } = await engine.readRelationships({});
    await engine.close();
    return { changes, stored: items.map(formatRelationship) };
  }

  async #open(): Promise<AuthorizationEngine> {
    return createEmbeddedEngine({ model, store: await openTarget(this.#target) });
  }

  async #watch(engine: AuthorizationEngine): Promise<void> {
    const from = this.watched.at(-1)?.revision ?? revisionAt(engine, 0);
    try {
      for await (const change of engine.watch(from)) this.watched.push(change);
    } catch (error) {
      expect(error).toMatchObject({ code: "UNAVAILABLE" });
    }
  }

  async #take(engine: AuthorizationEngine, step: Step): Promise<void> {
    if (step.kind === "pause") return void (await turn());
    const from = this.#acknowledged;
    const ask = () => {
      if (step.kind === "write") return engine.writeRelationships(step.request);
      return step.kind === "check" ? engine.check(step.request) : engine.readRelationships({});
    };
    try {
      const { revision, ...answer } = await ask();
      const at = sequenceOf(revision);
      if (step.kind === "write") this.#acknowledged = Math.max(this.#acknowledged, at);
      this.answered.push({ step, from, to: headOf(engine), at, answer });
    } catch (error) {
      const { code } = error as { code?: string };
      if (code !== "UNAVAILABLE") {
        this.answered.push({ step, from, to: headOf(engine), answer: code });
      } else if (step.kind === "write") {
        this.doubtful.push(step.request);
      }
    }
  }
}

/** The number of a state, without its store. */
function sequenceOf(revision: Revision): number {
  const [, , , storeId = ""] = Buffer.from(revision, "base64url").toString().split(":");
  return parseRevision(storeId, revision);
}

function revisionAt(engine: AuthorizationEngine, sequence: number): Revision {
  const parts = Buffer.from(probe(engine), "base64url").toString().split(":");
  return Buffer.from(parts.with(2, String(sequence)).join(":")).toString("base64url");
}

const heads = new WeakMap<AuthorizationEngine, number>();

/** The number of the newest state; for a closed engine, the last one that was seen. */
function headOf(engine: AuthorizationEngine): number {
  try {
    heads.set(engine, sequenceOf(probe(engine)));
  } catch {
    // It is closed.
    return Number.POSITIVE_INFINITY;
  }
  return heads.get(engine) ?? 0;
}

function probe(engine: AuthorizationEngine): Revision {
  const resource = { type: "document", id: "none" };
  const asked = engine.checkNow?.({ resource, permission: "view", subject: resource });
  if (asked === undefined) throw new Error("the engine does not check at once");
  return asked.revision;
}

type State = ReadonlyMap<string, Relationship>;

function after(state: State, { updates }: Pick<WriteRequest, "updates">): State {
  const next = new Map(state);
  for (const { operation, relationship } of updates) {
    const key = formatRelationship(relationship);
    if (operation === "DELETE") next.delete(key);
    else next.set(key, relationship);
  }
  return next;
}

/** The outcome of a write at a state. */
function outcomeAt(state: State, request: WriteRequest): string | undefined {
  for (const { kind, filter } of request.preconditions ?? []) {
    const matches = [...state.values()].some(
      ({ resource, relation }) =>
        resource.type === filter.resourceType &&
        resource.id === filter.resourceId &&
        relation === filter.relation,
    );
    if (matches !== (kind === "MUST_MATCH")) return "FAILED_PRECONDITION";
  }
  for (const { operation, relationship } of request.updates) {
    if (operation === "CREATE" && state.has(formatRelationship(relationship))) {
      return "ALREADY_EXISTS";
    }
  }
  return oracleOf(after(state, request)).hasCycle() ? "FAILED_PRECONDITION" : undefined;
}

function oracleOf(state: State): Oracle {
  const oracle = new Oracle(model);
  for (const [key, relationship] of state) oracle.relationships.set(key, relationship);
  return oracle;
}

const textOf = (state: State) => [...state.keys()].sort();
const isSame = (left: State, right: State) => `${textOf(left)}` === `${textOf(right)}`;

function verify(run: Run, changes: readonly Change[], stored: readonly string[]): void {
  const numbers = changes.map(({ revision }) => sequenceOf(revision));
  expect(numbers).toEqual([...new Set(numbers)].sort((left, right) => left - right));
  // The watch reported the stored changes, in the same order.
  expect(run.watched).toEqual(changes.slice(0, run.watched.length));
  const states: State[] = [new Map()];
  for (const [index, change] of changes.entries()) {
    const last = states.at(-1) as State;
    const number = numbers[index] as number;
    while (states.length < number) states.push(last);
    states.push(after(last, change));
  }
  const final = states.at(-1) as State;
  expect(stored).toEqual(textOf(final));
  const at = (number: number) => states[Math.min(number, states.length - 1)] as State;

  const claimed = new Set<number>();
  for (const answered of run.answered) {
    const { step, from, to, at: number, answer } = answered;
    if (number !== undefined) expect(number).toBeGreaterThanOrEqual(from);
    if (step.kind === "check" && number !== undefined) {
      const { resource, permission, subject } = step.request;
      const allowed = oracleOf(at(number)).check(resource, permission, subject);
      expect({ step, answer }).toEqual({ step, answer: { allowed } });
    } else if (step.kind === "list" && number !== undefined) {
      const { items } = answer as { items: Relationship[] };
      expect(items.map(formatRelationship)).toEqual(textOf(at(number)));
    } else if (step.kind === "write" && number !== undefined) {
      expect(claimed).not.toContain(number);
      claimed.add(number);
      const before = at(number - 1);
      expect({ step, outcome: outcomeAt(before, step.request) }).toEqual({ step });
      expect(textOf(at(number))).toEqual(textOf(after(before, step.request)));
    } else if (step.kind === "write") {
      const last = Math.min(to, states.length - 1);
      const outcomes = states.slice(from, last + 1).map((state) => outcomeAt(state, step.request));
      expect(outcomes).toContain(answer);
    } else {
      expect.fail(`a read ended with ${String(answer)}`);
    }
  }
  for (const number of numbers.filter((number) => !claimed.has(number))) {
    const before = at(number - 1);
    const whose = run.doubtful.some((request) => isSame(at(number), after(before, request)));
    expect(whose, `nobody wrote ${number}`).toBe(true);
  }
}

async function interleave(newTarget: () => StoreTarget): Promise<void> {
  await fc.assert(
    fc.asyncProperty(fc.gen(), async (gen) => {
      const choice = new RandomChoice(gen);
      const run = new Run(newTarget());
      for (let phase = 0; phase < 2; phase++) {
        const clients = choice.list(2 + choice.below(5), () =>
          choice.list(5 + choice.below(15), () => randomStep(choice)),
        );
        await run.phase(clients, 1 + choice.below(2 * clients.flat().length));
      }
      const { changes, stored } = await run.end();
      verify(run, changes, stored);
    }),
    { numRuns: RUNS, endOnFailure: true },
  );
}

const RUNS = Number(process.env["SVC_ACCESS_RUNS"] ?? runs(40));
const folder = mkdtempSync(join(tmpdir(), "svc-access-interleaved-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("SQLite: concurrent callers see what sequential callers would see", async () => {
  await interleave(() => ({ sqlite: { file: join(folder, `${randomUUID()}.db`) } }));
}, 240_000);

await onPostgres("an engine over PostgreSQL", ({ url }) => {
  test("PostgreSQL: concurrent callers see what sequential callers would see", async () => {
    await interleave(() => ({ postgres: { url, schema: `interleaved_${randomUUID()}` } }));
  }, 240_000);
});
