import { asUser } from "../support/iam-service.ts";
import { Random } from "../support/random.ts";
import type { Replica } from "./replica.ts";

const GROUPS = "/v1/iam/organizations/acme/groups";

/**
 * Codes of calls that may be repeated. A replica of svc-iam may see what another one has just written in SpiceDB
 * some seconds later: until then it denies.
 */
const REPEATABLE: ReadonlySet<number> = new Set([403, 429, 500, 503, 504]);

/** What a worker knows of a record. */
export interface Known {
  readonly kind: "group" | "user";
  readonly id: string;
  /** `deleted` once that was acknowledged; `unknown` if a deletion got no response. */
  state: "there" | "deleted" | "unknown";
}

/** Makes and deletes records, and remembers what was acknowledged. */
export class RecordWorker {
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

/** The path of a record. */
export function pathOf({ kind, id }: Known): string {
  return kind === "group" ? `${GROUPS}/${id}` : `/v1/users/${id}`;
}
