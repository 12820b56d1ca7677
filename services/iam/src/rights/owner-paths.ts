import type { ObjectReference, Relationship } from "svc-access/authz";
import { type EngineReads, tooMany } from "./engine-reads.ts";
import { filterOf, formatRelationship, objectText } from "./relationships.ts";
import type { RightsModel } from "./rights-model.ts";

/** The most relationships that are read to find an owner. */
const MOST = 20_000;

/** What an operation changes at once. */
export interface OwnerChange {
  /** Relationships that it deletes. */
  readonly deletions?: readonly Relationship[];
  /** Relationships that it writes together with them. */
  readonly writes?: readonly Relationship[];
  /** Users and groups that stop counting: they are disabled or deleted. */
  readonly leaving?: readonly ObjectReference[];
  /** What other guarded operations may not change meanwhile: who owns zones. */
  readonly held?: readonly ObjectReference[];
  /** Groups that it grants something to, which are not deleted meanwhile. */
  readonly granted?: readonly ObjectReference[];
}

/** Why a user owns a zone: from the zone to the user, through groups. */
export interface OwnerPath {
  readonly userId: string;
  readonly relationships: readonly Relationship[];
}

/** Says which of these users count: those who are enabled. */
export type EnabledUsers = (ids: readonly string[]) => Promise<ReadonlySet<string>>;

interface Node {
  readonly object: ObjectReference;
  readonly relation: string;
  readonly path: readonly Relationship[];
}

/** Finds enabled users who own a zone, as it will be after a change. */
export class OwnerPaths {
  readonly #model: RightsModel;
  readonly #reads: EngineReads;
  readonly #enabled: EnabledUsers;

  constructor(model: RightsModel, reads: EngineReads, enabled: EnabledUsers) {
    this.#model = model;
    this.#reads = reads;
    this.#enabled = enabled;
  }

  /**
   * The path of one of them; undefined if there is none.
   *
   * @throws ServiceError FORBIDDEN if none is found in 20,000 relationships: then it is not known
   */
  async find(zone: string, change: OwnerChange): Promise<OwnerPath | undefined> {
    const view = new ChangedView(change);
    const nodes: Node[] = [{ object: { type: "zone", id: zone }, relation: "owner", path: [] }];
    const seen = new Set<string>();
    let read = 0;
    for (const node of nodes) {
      const { object, relation, path } = node;
      const key = `${objectText(object)}#${relation}`;
      // The members of a permission are not walked: nobody counts by it.
      if (seen.has(key) || !this.#model.hasRelation({ type: object.type, relation })) continue;
      seen.add(key);
      const filter = { resourceType: object.type, resourceId: object.id, relation };
      for await (const page of this.#changed(filter, view)) {
        read += page.length;
        const users = page.filter(({ subject }) => subject.type === "user");
        const counting = await this.#enabled(users.map(({ subject }) => subject.id));
        const last = users.find(({ subject }) => counting.has(subject.id));
        if (last !== undefined) {
          return { userId: last.subject.id, relationships: [...path, last] };
        }
        for (const relationship of page) {
          const { type, id, relation } = relationship.subject;
          if (relation === undefined) continue;
          nodes.push({ object: { type, id }, relation, path: [...path, relationship] });
        }
        if (read > MOST) throw tooMany();
      }
    }
    return undefined;
  }

  /** Whether a path is still there; what the change itself writes is not there yet. */
  async isThere(
    { userId, relationships }: OwnerPath,
    { writes = [] }: OwnerChange,
  ): Promise<boolean> {
    const own = new Set(writes.map(formatRelationship));
    for (const relationship of relationships) {
      if (own.has(formatRelationship(relationship))) continue;
      if (!(await this.#reads.exists(filterOf(relationship)))) return false;
    }
    return (await this.#enabled([userId])).has(userId);
  }

  async *#changed(
    filter: {
      readonly resourceType: string;
      readonly resourceId: string;
      readonly relation: string;
    },
    view: ChangedView,
  ): AsyncGenerator<readonly Relationship[]> {
    const { resourceType, resourceId, relation } = filter;
    yield view.written.filter(
      ({ resource, relation: written }) =>
        resource.type === resourceType && resource.id === resourceId && written === relation,
    );
    for await (const page of this.#reads.pages(filter)) {
      yield page.filter((relationship) => view.keeps(relationship));
    }
  }
}

/** The relationships after a change. */
class ChangedView {
  /** What is written, and counts. */
  readonly written: readonly Relationship[];
  readonly #deleted: ReadonlySet<string>;
  readonly #leaving: ReadonlySet<string>;

  constructor({ deletions = [], writes = [], leaving = [] }: OwnerChange) {
    this.#deleted = new Set(deletions.map(formatRelationship));
    this.#leaving = new Set(leaving.map(objectText));
    this.written = writes.filter(({ subject }) => !this.#leaving.has(objectText(subject)));
  }

  keeps(relationship: Relationship): boolean {
    return (
      !this.#deleted.has(formatRelationship(relationship)) &&
      !this.#leaving.has(objectText(relationship.subject))
    );
  }
}
