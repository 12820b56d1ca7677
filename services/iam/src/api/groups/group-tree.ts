import type {
  AuthorizationEngine,
  CallOptions,
  Precondition,
  Relationship,
} from "svc-access/authz";
import { ServiceError } from "svc-access/runtime";
import { filterOf } from "../../rights/relationships.ts";

/** How many groups may be above one another: SpiceDB stops at 50, and groups are members of groups too. */
export const MAX_DEPTH = 30;
/** The most groups below a group that moves deeper. */
const MAX_BELOW = 1000;
/** How many questions are put to the engine at once. */
const AT_ONCE = 16;

/** A group and those above it, from itself to the top. */
export interface Ancestry {
  /** The ids, the group itself first. */
  readonly ids: readonly string[];
  /** They hold as long as the ancestry is this one. */
  readonly preconditions: readonly Precondition[];
}

/** Where groups are, as the authorization engine has it. */
export class GroupTree {
  readonly #engine: AuthorizationEngine;

  constructor(engine: AuthorizationEngine) {
    this.#engine = engine;
  }

  /** The groups right above groups, by id; a group at the top has none. */
  async parentsOf(
    ids: readonly string[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, string>> {
    const parents = new Map<string, string>();
    await this.#each(ids, async (id) => {
      const [parent] = await this.#parents(id, { signal });
      if (parent !== undefined) parents.set(id, parent);
    });
    return parents;
  }

  /**
   * A group and those above it.
   *
   * @throws ServiceError FAILED_PRECONDITION where they are more than may be above one another
   */
  async ancestry(id: string, signal: AbortSignal): Promise<Ancestry> {
    const ids = [id];
    const preconditions: Precondition[] = [];
    for (const at of ids) {
      const [parent, other] = await this.#parents(at, { signal, newest: true });
      if (other !== undefined) {
        throw new ServiceError("FAILED_PRECONDITION", "a group is below several groups at once");
      }
      preconditions.push(
        parent === undefined
          ? { kind: "MUST_NOT_MATCH", filter: parentsFilter(at) }
          : mustExist(parentOf(at, parent)),
      );
      if (parent === undefined) break;
      if (ids.length >= MAX_DEPTH || ids.includes(parent)) throw tooDeep();
      ids.push(parent);
    }
    return { ids, preconditions };
  }

  /** Whether a group is in a zone, which each group is until it is deleted. */
  async isIn(id: string, zone: string, signal: AbortSignal): Promise<boolean> {
    const { resource, relation, subject } = zoneOf(id, zone);
    const filter = {
      resourceType: resource.type,
      resourceId: id,
      relation,
      subject: { type: subject.type, id: zone },
    };
    const { items } = await this.#engine.readRelationships(
      filter,
      { pageSize: 1 },
      { signal, newest: true },
    );
    return items.length > 0;
  }

  /** Whether a group has groups right below it. */
  async hasChildren(id: string, signal: AbortSignal): Promise<boolean> {
    const page = { pageSize: 1 };
    const { items } = await this.#engine.readRelationships(childrenFilter(id), page, {
      signal,
      newest: true,
    });
    return items.length > 0;
  }

  /**
   * How many levels a group and those below it are.
   *
   * @param most more are refused
   * @throws ServiceError FAILED_PRECONDITION
   */
  async height(id: string, most: number, signal: AbortSignal): Promise<number> {
    let level: readonly string[] = [id];
    let [height, count] = [0, 0];
    while (level.length > 0) {
      if (++height > most) throw tooDeep();
      const next: string[] = [];
      await this.#each(level, async (group) => {
        const { items, nextCursor } = await this.#engine.readRelationships(
          childrenFilter(group),
          undefined,
          {
            signal,
            newest: true,
          },
        );
        next.push(...items.map(({ resource }) => resource.id));
        count += items.length;
        if (count > MAX_BELOW || nextCursor !== undefined) {
          throw new ServiceError(
            "FAILED_PRECONDITION",
            `more than ${MAX_BELOW} groups are below the group: move some of them first`,
          );
        }
      });
      level = next;
    }
    return height;
  }

  async #parents(id: string, options: CallOptions): Promise<readonly string[]> {
    const page = { pageSize: 2 };
    const { items } = await this.#engine.readRelationships(parentsFilter(id), page, options);
    return items.map(({ subject }) => subject.id);
  }

  async #each(ids: readonly string[], work: (id: string) => Promise<void>): Promise<void> {
    const left = ids.values();
    const next = async (): Promise<void> => {
      for (const id of left) await work(id);
    };
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, ids.length) }, next));
  }
}

/** `group:<id>#zone@zone:<zone>`: each group has it until it is deleted. */
export function zoneOf(id: string, zone: string): Relationship {
  return {
    resource: { type: "group", id },
    relation: "zone",
    subject: { type: "zone", id: zone },
  };
}

/** `group:<id>#parent@group:<parent>`. */
export function parentOf(id: string, parent: string): Relationship {
  return {
    resource: { type: "group", id },
    relation: "parent",
    subject: { type: "group", id: parent },
  };
}

/** The relationships of a group to those right above it. */
export function parentsFilter(id: string) {
  return { resourceType: "group", resourceId: id, relation: "parent" };
}

/** The relationships of the groups right below a group to it. */
export function childrenFilter(id: string) {
  return { resourceType: "group", relation: "parent", subject: { type: "group", id } };
}

/** That a relationship is there when a write is made. */
export function mustExist(relationship: Relationship): Precondition {
  return { kind: "MUST_MATCH", filter: filterOf(relationship) };
}

/** The refusal of a place that is too deep in the tree. */
export function tooDeep(): ServiceError {
  return new ServiceError(
    "FAILED_PRECONDITION",
    `at most ${MAX_DEPTH} groups can be above one another`,
  );
}
