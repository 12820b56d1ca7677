import type { AuthorizationEngine, Relationship, RelationshipFilter } from "svc-access/authz";
import type { CallContext } from "svc-access/runtime";

/** How many questions are put to the engine at once. */
const AT_ONCE = 16;
/** How many groups of a user are listed. */
const PAGE = { pageSize: 1000 };

/** Which groups users are members of, as the authorization engine has them. */
export class Groups {
  readonly #engine: AuthorizationEngine;

  constructor(engine: AuthorizationEngine) {
    this.#engine = engine;
  }

  /** As long as it is the same, so are the groups of all users; undefined if the engine must be asked. */
  revision(): string | undefined {
    return this.#engine.headNow?.();
  }

  /** The groups that a user is a direct member of, by identifier; at most 1,000. */
  ofUser(
    id: string,
    call: Pick<CallContext, "signal">,
  ): readonly string[] | Promise<readonly string[]> {
    // The signal of a call is only made when it is read.
    return this.#now(id) ?? this.#read(id, call.signal);
  }

  /** Those of several users, by the identifier of the user. */
  async ofUsers(
    ids: readonly string[],
    call: Pick<CallContext, "signal">,
  ): Promise<ReadonlyMap<string, readonly string[]>> {
    const groups = new Map<string, readonly string[]>();
    const others: string[] = [];
    for (const id of ids) {
      const found = this.#now(id);
      if (found === undefined) others.push(id);
      else groups.set(id, found);
    }
    const left = others.values();
    const read = async (): Promise<void> => {
      for (const id of left) groups.set(id, await this.#read(id, call.signal));
    };
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, others.length) }, read));
    return groups;
  }

  /** Those of an engine in this process; undefined where it must be asked. */
  #now(id: string): readonly string[] | undefined {
    const found = this.#engine.readRelationshipsNow?.(filterOf(id), PAGE);
    return found && idsOf(found.items);
  }

  async #read(id: string, signal: AbortSignal): Promise<readonly string[]> {
    const { items } = await this.#engine.readRelationships(filterOf(id), PAGE, { signal });
    return idsOf(items);
  }
}

function filterOf(id: string): RelationshipFilter {
  const subject = { type: "user", id, relation: "" };
  return { resourceType: "group", relation: "member", subject };
}

function idsOf(items: readonly Relationship[]): readonly string[] {
  return items.map(({ resource }) => resource.id);
}
