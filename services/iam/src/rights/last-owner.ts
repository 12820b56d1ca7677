import {
  type AuthorizationEngine,
  AuthzError,
  type ObjectReference,
  type Precondition,
  type Relationship,
  type RelationshipUpdate,
  type Revision,
} from "svc-access/authz";
import { DatabaseError, ServiceError } from "svc-access/runtime";
import { EngineReads, tooMany } from "./engine-reads.ts";
import { addsMemberships, MemberChains } from "./member-chains.ts";
import type { Claims, OwnerClaims } from "./owner-claims.ts";
import { type EnabledUsers, type OwnerChange, type OwnerPath, OwnerPaths } from "./owner-paths.ts";
import { filterOf, formatRelationship, objectText } from "./relationships.ts";
import { RightsModel } from "./rights-model.ts";
import { writeDecided } from "./write-decided.ts";

/** The most zones that one operation may take an owner from. */
const MOST_ZONES = 1000;
const ZONE_OWNER = { type: "zone", relation: "owner" } as const;
/** Subjects that are not users: the zone keeps its users without them. */
const OTHERS: ReadonlySet<string> = new Set(["service", "service_account"]);
const POWER: ReadonlySet<string> = new Set(["owner", "manager", "permission_admin"]);
/** The types all of whose relations a deletion of a group decides on. */
const PLACED: ReadonlySet<string> = new Set(["zone", "group"]);
/** After these, an effect may still happen. */
const UNSETTLED: ReadonlySet<string> = new Set(["UNAVAILABLE", "DEADLINE_EXCEEDED", "CANCELLED"]);

/**
 * Runs what takes effect in an operation, such as one write. Only what fails in it may happen later, so that the
 * claims of the operation stay; they end with all other errors, as those of a decision. The signal of the call does not
 * end it: by going away at this moment, a caller would make others wait.
 */
export type Effect = <Result>(run: () => Promise<Result>) => Promise<Result>;

/** What keeps the owners of zones. */
export interface LastOwnerOptions {
  readonly engine: AuthorizationEngine;
  readonly claims: OwnerClaims;
  readonly enabled: EnabledUsers;
}

/**
 * Keeps an enabled user as an owner of each zone, directly or through groups. Every operation that takes owners away
 * runs in `guard`: deletions of relationships, disabling and deletion of users, deletion of groups.
 *
 * Users are in the database and owners in the engine, so no transaction covers both. Instead an operation claims
 * what it takes away, then looks for another owner, claims what makes that one an owner, and looks again. Two
 * operations that could leave a zone without an owner together claim something in common: one waits for the other.
 *
 * Writes that make groups members of groups run in it, too, and claim their chains the same way.
 */
export class LastOwner {
  readonly #options: LastOwnerOptions;
  readonly #model: RightsModel;
  readonly #chains: MemberChains;

  constructor(options: LastOwnerOptions) {
    this.#options = options;
    this.#chains = new MemberChains(options.engine);
    this.#model = new RightsModel(options.engine.model);
  }

  /**
   * Does an operation that may take owners from zones, unless it would leave a zone that has an enabled user as
   * its owner without one.
   *
   * @param work gets what must be a part of its write, where it writes relationships, and runs in `effect` what takes
   * effect. It may begin long after this call. So rights are decided before this call, since whoever has none must
   * not make others wait, and again in the work
   * @throws ServiceError FAILED_PRECONDITION if a zone would have no enabled owner, or groups would be members of one
   * another in too long a row; UNAVAILABLE if others change the same owners or groups for too long; AuthzError or
   * DatabaseError
   */
  async guard<Result>(
    change: OwnerChange,
    signal: AbortSignal,
    work: (preconditions: readonly Precondition[], effect: Effect) => Promise<Result>,
  ): Promise<Result> {
    const relevant = { ...change, deletions: this.#relevant(change.deletions ?? []) };
    const { deletions, leaving = [], held = [], granted = [] } = relevant;
    const touched = [...deletions.map(({ resource }) => resource), ...leaving, ...held];
    if (touched.length + granted.length === 0 && !addsMemberships(relevant)) {
      return work([], (run) => run());
    }
    let mayHappen = false;
    const effect: Effect = async (run) => {
      try {
        return await run();
      } catch (error) {
        mayHappen ||= !isSettled(error);
        throw error;
      }
    };
    return this.#options.claims.during(
      touched.map(objectText),
      signal,
      async (claims) => {
        if (!(await this.#chains.claim(change, claims, signal))) return "busy";
        const paths = await this.#otherOwners(relevant, claims, signal);
        if (paths === "busy") return paths;
        return work(preconditionsOf(paths, relevant), effect);
      },
      () => !mayHappen,
      {
        deleted: leaving.filter(({ type }) => type === "group").map(objectText),
        granted: granted.map(objectText),
      },
    );
  }

  /**
   * Writes relationships, unless that would leave a zone without an enabled owner.
   *
   * @param decide whether they may be written: it throws if not, and returns what must be a part of the write. It
   * is asked before anything is claimed, and again once nothing is waited for: a right that was lost meanwhile does
   * not count
   * @throws ServiceError as `guard` does; AuthzError; what `decide` throws
   */
  async write(
    updates: readonly RelationshipUpdate[],
    decide: () => Promise<readonly Precondition[]>,
    signal: AbortSignal,
  ): Promise<{ readonly revision: Revision }> {
    const of = (isDeletion: boolean) =>
      updates
        .filter(({ operation }) => (operation === "DELETE") === isDeletion)
        .map(({ relationship }) => relationship);
    const [deletions, writes] = [of(true), of(false)];
    const held = writes.filter(hasPower).map(({ resource }) => resource);
    const granted = writes
      .filter(givesPower)
      .map(({ subject: { type, id } }): ObjectReference => ({ type, id }));
    // Who may not write does not learn who owns a zone, and makes nobody wait.
    const isClaimed = held.length + granted.length + this.#relevant(deletions).length > 0;
    if (isClaimed) await decide();
    return this.guard({ deletions, writes, held, granted }, signal, (needed, effect) =>
      writeDecided(this.#options.engine, { updates, decide, others: needed, effect }),
    );
  }

  /** Deletions by which a user may stop to own a zone. */
  #relevant(deletions: readonly Relationship[]): readonly Relationship[] {
    return deletions.filter(
      ({ resource, relation, subject }) =>
        !OTHERS.has(subject.type) && this.#setsOf(resource.type, relation).length > 0,
    );
  }

  #setsOf(type: string, relation: string): readonly string[] {
    return this.#model.usersets({ type, relation }, [ZONE_OWNER]);
  }

  /** Who keeps owning each zone that the change touches, claimed. */
  async #otherOwners(
    change: OwnerChange,
    claims: Claims,
    signal: AbortSignal,
  ): Promise<readonly OwnerPath[] | "busy"> {
    const { engine, enabled } = this.#options;
    const paths = new OwnerPaths(this.#model, new EngineReads(engine, { signal }), enabled);
    const found: OwnerPath[] = [];
    for (const zone of await this.#zones(change, new EngineReads(engine, { signal }))) {
      const other = await paths.find(zone, change);
      if (other !== undefined) found.push(other);
      else if ((await paths.find(zone, {})) !== undefined) {
        throw new ServiceError(
          "FAILED_PRECONDITION",
          `this would remove the last enabled user who owns the zone ${zone}`,
        );
      }
    }
    if (!(await claims.add(found.flatMap(objectsOf)))) return "busy";
    // Another operation may have ended between the look and the claim.
    const again = new OwnerPaths(this.#model, new EngineReads(engine, { signal }), enabled);
    for (const path of found) if (!(await again.isThere(path, change))) return "busy";
    return found;
  }

  /** The zones that may lose an owner. */
  async #zones(
    { deletions = [], leaving = [] }: OwnerChange,
    reads: EngineReads,
  ): Promise<ReadonlySet<string>> {
    const sets = new Map<
      string,
      { readonly type: string; readonly id: string; relation?: string }
    >();
    const add = ({ type, id }: ObjectReference, relation?: string) =>
      sets.set(`${type}:${id}#${relation}`, { type, id, ...(relation && { relation }) });
    for (const { resource, relation } of deletions) {
      for (const name of this.#setsOf(resource.type, relation)) add(resource, name);
    }
    for (const object of leaving) {
      if (object.type === "user") add(object);
      for (const relation of this.#model.relations(object.type) ?? []) {
        for (const name of this.#setsOf(object.type, relation)) add(object, name);
      }
    }
    const zones = new Set<string>();
    for (const subject of sets.values()) {
      const { type, relation } = ZONE_OWNER;
      const found = await reads.objectsOf(type, relation, subject, MOST_ZONES);
      for (const { id } of found) zones.add(id);
      if (zones.size > MOST_ZONES) throw tooMany();
    }
    return zones;
  }
}

/** Whether a relationship gives power over the groups below one: a move of a group must not overlook it. */
function hasPower({ resource, relation }: Relationship): boolean {
  return resource.type === "group" && POWER.has(relation);
}

/** Whether it grants to a group what a deletion of the group decides on: it must not overlook it. */
function givesPower({ resource, relation, subject }: Relationship): boolean {
  if (subject.type !== "group" || subject.relation === undefined) return false;
  return relation === "owner" || relation === "admin" || PLACED.has(resource.type);
}

function isSettled(error: unknown): boolean {
  if (error instanceof DatabaseError) return false;
  const isRefusal = error instanceof AuthzError || error instanceof ServiceError;
  return isRefusal && !UNSETTLED.has(error.code);
}

/** The objects whose relationships make a user an owner, and the user. */
function objectsOf({ userId, relationships }: OwnerPath): string[] {
  return [...relationships.map(({ resource }) => objectText(resource)), `user:${userId}`];
}

/** That the other owners still are owners when the write is made. */
function preconditionsOf(
  paths: readonly OwnerPath[],
  { writes = [] }: OwnerChange,
): readonly Precondition[] {
  const own = new Set(writes.map(formatRelationship));
  const needed = new Map(
    paths
      .flatMap(({ relationships }) => relationships)
      .map((relationship) => [formatRelationship(relationship), relationship]),
  );
  return [...needed]
    .filter(([text]) => !own.has(text))
    .map(([, relationship]) => ({ kind: "MUST_MATCH", filter: filterOf(relationship) }));
}
