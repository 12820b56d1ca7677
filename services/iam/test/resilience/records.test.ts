/**
 * Groups and users that are made and deleted at two replicas while these are killed, and PostgreSQL and
 * SpiceDB are stopped and started: each record and its relationships come and go together.
 */
import { afterAll, expect, test } from "vitest";
import { IS_THOROUGH } from "../../../../test/support/effort.ts";
import { query } from "../../../../test/support/postgres.ts";
import { until } from "../../../../test/support/until.ts";
import { asUser } from "../support/iam-service.ts";
import { Random } from "../support/random.ts";
import { onPlatform, type Platform, type Stoppable, startPlatform } from "./platform.ts";
import type { Replica } from "./replica.ts";

const ROUNDS = 2;
const WORKERS = 4;
/** How many responses of both kinds a round has: calls that succeed, and calls that fail. */
const EACH = 25;
const GROUPS = "/v1/iam/organizations/acme/groups";

// Each interruption is tried in the tests of its part, in a process.
const platform = IS_THOROUGH ? await startPlatform({ isSpicedbDurable: true }) : undefined;
afterAll(() => platform?.stop());

/**
 * Codes of calls that may be repeated. A replica of svc-iam may see what another one has just written in SpiceDB
 * some seconds later: until then it denies.
 */
const REPEATABLE: ReadonlySet<number> = new Set([403, 429, 500, 503, 504]);

/** What a worker knows of a record. */
interface Known {
  readonly kind: "group" | "user";
  readonly id: string;
  /** `deleted` once that was acknowledged; `unknown` if a deletion got no response. */
  state: "there" | "deleted" | "unknown";
}

/** Makes and deletes records, and remembers what was acknowledged. */
class Worker {
  readonly records: Known[] = [];
  readonly wrong: string[] = [];
  succeeded = 0;
  failed = 0;
  readonly #replicas: readonly Replica[];
  readonly #random: Random;
  readonly #member: { readonly type: "user"; readonly id: string };
  readonly #owner: Readonly<Record<string, string>>;
  readonly #name: string;
  #next = 0;

  /** @param owner the id of a user who owns the zone @param member that of another user */
  constructor(replicas: readonly Replica[], name: string, owner: string, member: string) {
    this.#replicas = replicas;
    this.#random = new Random(member.charCodeAt(0));
    this.#name = name;
    this.#owner = asUser(owner);
    this.#member = { type: "user", id: member };
  }

  async act(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      const there = this.records.filter(({ state }) => state === "there");
      const one = there[this.#random.below(Math.max(1, there.length))];
      if (one === undefined || this.#random.below(3) > 0) await this.#make();
      else await this.#delete(one);
      await this.#look();
    }
  }

  async #make(): Promise<void> {
    if (this.#random.below(2) === 0) {
      const made = await this.#call("POST", GROUPS, { displayName: this.#name });
      if (made === undefined) return;
      const id: string = made.id;
      const added = await this.#call("POST", `${GROUPS}/${id}/members`, { member: this.#member });
      // Without a response it may have its member or not; nothing is known of it then.
      this.records.push({ kind: "group", id, state: added === undefined ? "unknown" : "there" });
      return;
    }
    const username = `${this.#name}-${this.#next++}`;
    const user = { username, displayName: username, email: `${username}@example.com` };
    const password = "correct horse battery staple";
    const made = await this.#call("POST", "/v1/users", { ...user, password });
    if (made !== undefined) this.records.push({ kind: "user", id: made.id, state: "there" });
  }

  async #delete(record: Known): Promise<void> {
    record.state = "unknown";
    if ((await this.#call("DELETE", pathOf(record))) !== undefined) record.state = "deleted";
  }

  /** What is there is shown, and what was deleted is not; an error is neither. */
  async #look(): Promise<void> {
    const record = this.records[this.#random.below(Math.max(1, this.records.length))];
    if (record === undefined || record.state === "unknown") return;
    const status = await this.#status("GET", pathOf(record));
    const isWrong =
      record.state === "there"
        ? status === 404 || status === 401
        : status !== undefined && status < 400;
    if (isWrong) this.wrong.push(`${record.kind} ${record.id} is ${record.state}: ${status}`);
  }

  async #status(method: string, path: string): Promise<number | undefined> {
    const { status } = (await this.#send(method, path)) ?? {};
    return status;
  }

  /** The response to a call that succeeded. */
  async #call(method: string, path: string, body?: object): Promise<any> {
    const answer = await this.#send(method, path, body);
    if (answer?.status === 200) {
      this.succeeded++;
      return answer.body;
    }
    if (answer !== undefined && !REPEATABLE.has(answer.status)) {
      this.wrong.push(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    }
    this.failed++;
    return undefined;
  }

  #send(method: string, path: string, body?: object) {
    const replica = this.#replicas[this.#random.below(this.#replicas.length)];
    return replica?.call(method, path, body, this.#owner).catch(() => undefined);
  }
}

function pathOf({ kind, id }: Known): string {
  return kind === "group" ? `${GROUPS}/${id}` : `/v1/users/${id}`;
}

onPlatform("records and their relationships", platform, (platform) => {
  const { replicas, databaseUrl, servers } = platform;
  const [first, second] = replicas;
  const processOf = (replica: Replica): Stoppable => ({
    stop: () => replica.kill(),
    start: () => replica.start(),
  });
  const mishaps: Readonly<Record<string, Stoppable>> = {
    "a replica is killed": processOf(first),
    "PostgreSQL is stopped": servers.postgres,
    "the other replica is killed": processOf(second),
    "SpiceDB is stopped": servers.spicedb,
  };

  test("come and go together, whatever is interrupted [IAM-13]", async () => {
    const owner = await platform.addUser("owner");
    await platform.makeOwner(owner);
    const workers: Worker[] = [];
    for (let worker = 0; worker < WORKERS; worker++) {
      const member = await platform.addUser(`member-${worker}`);
      workers.push(new Worker(replicas, `worker-${worker}`, owner, member));
    }
    let isOver = false;
    const working = Promise.all(workers.map((worker) => worker.act(() => isOver)));
    const count = (key: "succeeded" | "failed") =>
      workers.reduce((sum, worker) => sum + worker[key], 0);
    const more = (key: "succeeded" | "failed", number = EACH) => {
      const enough = count(key) + number;
      return until(`${number} calls ${key}`, () => count(key) >= enough);
    };
    for (let round = 0; round < ROUNDS; round++) {
      for (const [name, server] of Object.entries(mishaps)) {
        await more("succeeded");
        await server.stop();
        await until(`calls fail while ${name}`, () => more("failed", 5).then(() => true));
        await server.start();
      }
    }
    await more("succeeded");
    isOver = true;
    await working;
    expect(workers.flatMap(({ wrong }) => wrong)).toEqual([]);

    await settle(databaseUrl);
    const records = workers.flatMap(({ records }) => records);
    expect(records.filter(({ state }) => state === "deleted").length).toBeGreaterThan(0);
    for (const record of records) {
      const { status } = await platform.call("GET", pathOf(record), undefined, asUser(owner));
      if (record.state === "there") expect(status).toBe(200);
      if (record.state === "deleted") expect(status).toBeOneOf([403, 404]);
    }
    await expectWhole(platform);
  });
});

/** Lets the time pass after which nothing is under way any more, and waits until all is decided. */
async function settle(url: string): Promise<void> {
  const past = 3_600_000;
  await until("all that was begun has ended", async () => {
    await query(url, `update svc_access.iam_groups set state_time = state_time - ${past}`);
    await query(
      url,
      `update svc_access.iam_removals set due_time = due_time - ${past}, empty_time = empty_time - ${past}`,
    );
    const [row] = await query(
      url,
      `select (select count(*) from svc_access.iam_groups where state <> 'ready')
        + (select count(*) from svc_access.iam_removals) as left`,
    );
    return Number(row?.["left"]) === 0;
  });
}

/** Each relationship is of records that there are, and each group has its zone and its first owner. */
async function expectWhole(platform: Platform): Promise<void> {
  const idsOf = async (table: string) => {
    const rows = await query(platform.databaseUrl, `select id from svc_access.${table}`);
    return new Set(rows.map(({ id }) => id as string));
  };
  const [groups, users] = [await idsOf("iam_groups"), await idsOf("iam_users")];
  const relationships = await platform.relationships("group");
  for (const { resource, subject } of relationships) {
    expect(groups).toContain(resource.id);
    if (subject.type === "user") expect(users).toContain(subject.id);
  }
  for (const relation of ["zone", "owner"]) {
    const having = relationships.filter((one) => one.relation === relation);
    expect(new Set(having.map(({ resource }) => resource.id))).toEqual(groups);
  }
}
