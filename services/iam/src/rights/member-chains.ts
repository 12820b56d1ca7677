import type { AuthorizationEngine, Relationship } from "svc-access/authz";
import { ServiceError } from "svc-access/runtime";
import { EngineReads, mapSome } from "./engine-reads.ts";
import type { Claims } from "./owner-claims.ts";
import type { OwnerChange } from "./owner-paths.ts";
import { formatRelationship } from "./relationships.ts";

/**
 * How many groups a chain may have in which each is a member of the one before.
 *
 * SpiceDB gives up after 50 steps, and then everybody whose check passes the chain gets an error instead of a decision.
 * So whoever manages one group must not be able to make a chain that long. A check walks up parents first and down
 * members last, since no set has members by a parent. Its longest way in the model of IAM is 30 groups above one another
 * (`MAX_DEPTH` of their tree), a permission of the zone, a relation of the zone, and this chain: 47 steps, one more in a
 * listing. Other types are nearer: `read` of a project takes 5 steps to the chain. The rest is for groups that are created
 * while others move.
 */
export const MAX_CHAIN = 15;

/** The most groups above and below, each, that are visited for one write. */
const MOST = 1000;
/** The most memberships of groups that are read for it. */
const MOST_READ = 10_000;

/** The groups right above or below each group. */
type Neighbors = ReadonlyMap<string, readonly string[]>;

/** Keeps chains of groups that are members of one another within `MAX_CHAIN`. */
export class MemberChains {
  readonly #engine: AuthorizationEngine;

  constructor(engine: AuthorizationEngine) {
    this.#engine = engine;
  }

  /**
   * Checks what a change makes of the chains, and claims them: of two writes that would make one too long together, one
   * has a group below its new membership that the other one has above it.
   *
   * @returns false if another operation changes one of the chains: begin again
   * @throws ServiceError FAILED_PRECONDITION for a chain that is too long, or closed, and for too many groups
   */
  async claim(change: OwnerChange, claims: Claims, signal: AbortSignal): Promise<boolean> {
    if (!addsMemberships(change)) return true;
    const walked = await this.#walk(change, signal);
    if (!(await claims.add([...walked].map(claimOf)))) return false;
    // Another write may have ended between the look and the claim.
    const again = await this.#walk(change, signal);
    return [...again].every((id) => walked.has(id));
  }

  /** All groups in the chains of the new memberships, which are checked. */
  async #walk(change: OwnerChange, signal: AbortSignal): Promise<ReadonlySet<string>> {
    const { writes = [] } = change;
    const added = writes.filter(isNested);
    const view = new Memberships(new EngineReads(this.#engine, { signal }), added, change);
    const above = await closure(
      added.map(({ resource }) => resource.id),
      (id) => view.above(id),
    );
    const below = await closure(
      added.map(({ subject }) => subject.id),
      (id) => view.below(id),
    );
    const [up, down] = [longestFrom(above), longestFrom(below)];
    for (const { resource, subject } of added) {
      if (up(resource.id) + down(subject.id) > MAX_CHAIN) throw tooLong();
    }
    return new Set([...above.keys(), ...below.keys()]);
  }
}

/** Whether a change makes groups members of groups. */
export function addsMemberships({ writes = [] }: OwnerChange): boolean {
  return writes.some(isNested);
}

/** The memberships of groups in groups, as they will be after a change. */
class Memberships {
  readonly #reads: EngineReads;
  readonly #added: readonly Relationship[];
  readonly #deleted: ReadonlySet<string>;
  #read = 0;

  constructor(reads: EngineReads, added: readonly Relationship[], { deletions = [] }: OwnerChange) {
    this.#reads = reads;
    this.#added = added;
    this.#deleted = new Set(deletions.map(formatRelationship));
  }

  /** The groups that a group is a member of. */
  async above(id: string): Promise<readonly string[]> {
    const stored = await this.#stored({ subject: { type: "group", id, relation: "member" } });
    const added = this.#added.filter(({ subject }) => subject.id === id);
    return [...new Set([...stored, ...added].map(({ resource }) => resource.id))];
  }

  /** The groups that are members of a group. */
  async below(id: string): Promise<readonly string[]> {
    const subject = { type: "group", relation: "member" };
    const stored = await this.#stored({ resourceId: id, subject });
    const added = this.#added.filter(({ resource }) => resource.id === id);
    return [...new Set([...stored, ...added].map(({ subject }) => subject.id))];
  }

  async #stored(
    filter: Pick<Parameters<EngineReads["pages"]>[0], "resourceId" | "subject">,
  ): Promise<readonly Relationship[]> {
    const found: Relationship[] = [];
    const of = { ...filter, resourceType: "group", relation: "member" };
    for await (const page of this.#reads.pages(of)) {
      this.#read += page.length;
      if (this.#read > MOST_READ) throw tooManyGroups();
      found.push(...page);
    }
    return found.filter((one) => !this.#deleted.has(formatRelationship(one)));
  }
}

/** The groups that some lead to, each with those that it leads to; a level at a time. */
async function closure(
  starts: readonly string[],
  next: (id: string) => Promise<readonly string[]>,
): Promise<Neighbors> {
  const found = new Map<string, readonly string[]>();
  let level = [...new Set(starts)];
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > MAX_CHAIN) throw tooLong();
    if (found.size + level.length > MOST) throw tooManyGroups();
    const nexts = await mapSome(level, next);
    for (const [index, id] of level.entries()) found.set(id, nexts[index] ?? []);
    level = [...new Set(nexts.flat())].filter((id) => !found.has(id));
  }
  return found;
}

/** How many groups the longest chain from a group has, itself included; each group is visited once. */
function longestFrom(neighbors: Neighbors): (id: string) => number {
  const known = new Map<string, number | "under way">();
  const longest = (id: string): number => {
    const length = known.get(id);
    if (length === "under way") throw closed();
    if (length !== undefined) return length;
    known.set(id, "under way");
    const found = 1 + Math.max(0, ...(neighbors.get(id) ?? []).map(longest));
    known.set(id, found);
    return found;
  };
  return longest;
}

function isNested({ resource, relation, subject }: Relationship): boolean {
  return (
    resource.type === "group" &&
    relation === "member" &&
    subject.type === "group" &&
    subject.relation === "member"
  );
}

/** Objects have no spaces: deletions of the group, and grants to it, have other claims. */
function claimOf(group: string): string {
  return `group:${group} nested`;
}

function tooLong(): ServiceError {
  return failed(
    `at most ${MAX_CHAIN} groups can be members of one another in a row: add the members themselves, or remove one of these groups from another first`,
  );
}

function tooManyGroups(): ServiceError {
  return failed(
    `more than ${MOST} groups are members of one another here: remove some of them first, or write fewer at once`,
  );
}

function closed(): ServiceError {
  return failed("the group would be a member of itself");
}

function failed(message: string): ServiceError {
  return new ServiceError("FAILED_PRECONDITION", message);
}
