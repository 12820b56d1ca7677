import type {
  AuthorizationEngine,
  ObjectReference,
  Precondition,
  Relationship,
  RelationshipUpdate,
} from "svc-access/authz";
import { ServiceError } from "svc-access/runtime";
import { type Caller, CallerRights, type ObjectRelation } from "./caller-rights.ts";
import { unique } from "./decided-path.ts";
import { EngineReads } from "./engine-reads.ts";
import { Handover } from "./handover.ts";
import { Places } from "./places.ts";
import { objectText } from "./relationships.ts";
import { Releases } from "./releases.ts";
import { RightsModel, type TypeRelation } from "./rights-model.ts";
import { StrongRelations, type SubjectSet } from "./strong-relations.ts";

/** What the rules of one request share. */
interface Decision {
  readonly reads: EngineReads;
  readonly places: Places;
  readonly rights: CallerRights;
}

/**
 * Decides who may write which relationships (docs/iam.md#who-may-grant). Each update needs the right to it in the
 * state before the write.
 */
export class RelationshipRules {
  readonly #engine: AuthorizationEngine;
  readonly #model: RightsModel;

  constructor(engine: AuthorizationEngine) {
    this.#engine = engine;
    this.#model = new RightsModel(engine.model);
  }

  /**
   * Checks that a caller may make each of these changes.
   *
   * @returns what must be a part of the same write: it keeps what was decided on
   * @throws ServiceError FORBIDDEN, or INVALID_ARGUMENT for a relation that the type does not have; AuthzError if
   * it is not known
   */
  async assertMayWrite(
    caller: Caller,
    updates: readonly RelationshipUpdate[],
    signal: AbortSignal,
  ): Promise<{ readonly preconditions: readonly Precondition[] }> {
    return this.#decide(this.#begin(caller, signal), caller, updates);
  }

  /**
   * Checks that those who hold `owner` or `admin` above a new place of an object hold nothing more by it than the
   * caller may grant.
   *
   * @throws ServiceError FORBIDDEN
   */
  async assertMayPlace(
    caller: Caller,
    object: ObjectReference,
    place: ObjectReference,
    signal: AbortSignal,
  ): Promise<void> {
    const { reads, places, rights } = this.#begin(caller, signal);
    await new Handover(this.#model, reads, places, rights).assertAllowed(object, place);
  }

  /**
   * Checks that a caller may delete what was granted to the members of a group, and take from them the relations to
   * zones that they hold by it, also through other groups: these protect their accounts.
   *
   * @returns what must be a part of the same write
   * @throws ServiceError FORBIDDEN
   */
  async assertMayEmpty(
    caller: Caller,
    group: ObjectReference,
    granted: readonly RelationshipUpdate[],
    signal: AbortSignal,
  ): Promise<{ readonly preconditions: readonly Precondition[] }> {
    const decision = this.#begin(caller, signal);
    await this.#assertSets(decision, [{ object: group, relation: "member" }], this.#model.ofZones);
    return this.#decide(decision, caller, granted);
  }

  async #decide(
    decision: Decision,
    caller: Caller,
    updates: readonly RelationshipUpdate[],
  ): Promise<{ readonly preconditions: readonly Precondition[] }> {
    for (const { relationship } of updates) this.#assertWritable(relationship);
    const { reads, rights } = decision;
    const others = await new Releases(this.#model, reads, rights).others(caller, updates);
    await assertAll(
      decision,
      others.map(({ relationship }) => written(relationship)),
    );
    const writes = updates.filter(({ operation }) => operation !== "DELETE");
    const placed = await this.#assertPlaces(decision, updates);
    await this.#assertMembers(decision, writes, this.#model.strong);
    const taken = updates.filter(isTakenFrom(caller));
    await this.#assertMembers(decision, taken, this.#model.ofZones);
    const path = await rights.path();
    return {
      preconditions: unique([...named(writes, path), ...grantees(writes), ...placed, ...path]),
    };
  }

  #begin(caller: Caller, signal: AbortSignal): Decision {
    const reads = new EngineReads(this.#engine, { signal });
    const places = new Places(this.#model, reads);
    return { reads, places, rights: new CallerRights(caller, this.#model, reads, places) };
  }

  #assertWritable({ resource, relation }: Relationship): void {
    const { type } = resource;
    this.#model.assertRelation(type, relation);
    if (this.#model.isMixed({ type, relation })) {
      throw new ServiceError(
        "FORBIDDEN",
        `${type}#${relation} is a part of a set with & or -, whose subjects hold an owner or an admin: only its service writes it`,
      );
    }
    if (type === "group" && this.#model.places(type).has(relation)) {
      throw new ServiceError(
        "FORBIDDEN",
        `the ${relation} of a group is written by CreateGroup and MoveGroup only`,
      );
    }
  }

  /** A change of the place of an object needs the right to it at the former and the new place. */
  async #assertPlaces(
    { reads, places, rights }: Decision,
    updates: readonly RelationshipUpdate[],
  ): Promise<Precondition[]> {
    const changes = updates.filter(({ relationship: { resource, relation } }) =>
      this.#model.places(resource.type).has(relation),
    );
    if (changes.length === 0) return [];
    const preconditions: Precondition[] = [];
    const needed: ObjectRelation[] = [];
    const moved = new Map(
      changes.map(({ relationship }) => [relationText(relationship), relationship]),
    );
    for (const { resource, relation } of moved.values()) {
      const former = await places.named(resource, relation);
      needed.push(...former.map((object) => ({ object, relation: "" })));
      preconditions.push(...unchanged(resource, relation, former));
    }
    for (const { relationship } of changes)
      needed.push({ object: relationship.subject, relation: "" });
    await assertAll({ rights }, needed);
    const handover = new Handover(this.#model, reads, places, rights);
    for (const { operation, relationship } of changes) {
      if (operation === "DELETE") continue;
      await handover.assertAllowed(relationship.resource, relationship.subject);
    }
    return preconditions;
  }

  /**
   * A new member of a set gets what its members hold, so the caller must be able to grant all of that. A former one
   * loses it, and nobody takes from others the relations to a zone that protect their accounts: the caller must be
   * able to revoke these.
   */
  async #assertMembers(
    decision: Decision,
    changes: readonly RelationshipUpdate[],
    held: readonly TypeRelation[],
  ): Promise<void> {
    const sets = new Map<string, SubjectSet>();
    for (const { relationship } of changes) {
      const { resource, relation } = relationship;
      for (const name of this.#model.usersets({ type: resource.type, relation }, held)) {
        sets.set(`${objectText(resource)}#${name}`, { object: resource, relation: name });
      }
    }
    await this.#assertSets(decision, [...sets.values()], held);
  }

  async #assertSets(
    { reads, rights }: Decision,
    sets: readonly SubjectSet[],
    relations: readonly TypeRelation[],
  ): Promise<void> {
    const held = await new StrongRelations(this.#model, reads).of(sets, relations);
    const refused = await rights.firstRefused(held);
    if (refused === undefined) return;
    const { object, relation } = refused.by;
    throw new ServiceError(
      "FORBIDDEN",
      `by ${objectText(object)}#${relation} its subjects hold relations that the caller may not grant and revoke`,
    );
  }
}

async function assertAll(
  { rights }: Pick<Decision, "rights">,
  relations: readonly ObjectRelation[],
): Promise<void> {
  const refused = await rights.firstRefused(relations);
  if (refused === undefined) return;
  const { object, relation } = refused;
  throw new ServiceError(
    "FORBIDDEN",
    relation === ""
      ? "permission denied: a former or the new place of an object"
      : `permission denied: ${objectText(object)}#${relation}`,
  );
}

/** Deletions of what somebody else holds: everybody may leave. */
function isTakenFrom({ subjectType, subjectId }: Caller) {
  return ({ operation, relationship: { subject } }: RelationshipUpdate): boolean =>
    operation === "DELETE" &&
    !(subject.type === subjectType && subject.id === subjectId && subject.relation === undefined);
}

function written({ resource, relation }: Relationship): ObjectRelation {
  return { object: resource, relation };
}

/** An object that no relationship names is not made here, also if the last one is deleted meanwhile. */
function named(
  writes: readonly RelationshipUpdate[],
  path: readonly Precondition[],
): Precondition[] {
  const objects = new Map(
    writes.map(({ relationship: { resource } }) => [objectText(resource), resource]),
  );
  for (const { filter } of path) objects.delete(`${filter.resourceType}:${filter.resourceId}`);
  return [...objects.values()].map(({ type, id }) => ({
    kind: "MUST_MATCH",
    filter: { resourceType: type, resourceId: id },
  }));
}

/** Nothing is granted to a group that is deleted meanwhile: its place goes first. */
function grantees(writes: readonly RelationshipUpdate[]): Precondition[] {
  const sets = writes
    .map(({ relationship: { subject } }) => subject)
    .filter(({ type, relation }) => type === "group" && relation !== undefined);
  return [...new Set(sets.map(({ id }) => id))].map((resourceId) => ({
    kind: "MUST_MATCH",
    filter: { resourceType: "group", resourceId, relation: "zone" },
  }));
}

/** That a relation of an object still names the same places. */
function unchanged(
  { type, id }: ObjectReference,
  relation: string,
  places: readonly ObjectReference[],
): Precondition[] {
  const filter = { resourceType: type, resourceId: id, relation };
  if (places.length === 0) return [{ kind: "MUST_NOT_MATCH", filter }];
  return places.map(({ type, id }) => ({
    kind: "MUST_MATCH",
    filter: { ...filter, subject: { type, id } },
  }));
}

function relationText({ resource, relation }: Relationship): string {
  return `${objectText(resource)}#${relation}`;
}
