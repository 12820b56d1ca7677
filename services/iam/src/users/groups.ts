import type { AuthorizationEngine } from "svc-access/authz";
import type { CallContext } from "svc-access/runtime";

/** How many questions are put to the engine at once. */
const AT_ONCE = 16;
/** How many groups of a user are listed. */
const MOST = 1000;

/** Which groups users are members of, as the authorization engine has them. */
export class Groups {
  readonly #engine: AuthorizationEngine;

  constructor(engine: AuthorizationEngine) {
    this.#engine = engine;
  }

  /** The groups that a user is a direct member of, by identifier; at most 1,000. */
  async ofUser(id: string, call: Pick<CallContext, "signal">): Promise<readonly string[]> {
    const filter = {
      resourceType: "group",
      relation: "member",
      subject: { type: "user", id, relation: "" },
    };
    const page = { pageSize: MOST };
    // The signal of a call is only made when it is read.
    const { items } =
      this.#engine.readRelationshipsNow?.(filter, page) ??
      (await this.#engine.readRelationships(filter, page, { signal: call.signal }));
    return items.map(({ resource }) => resource.id);
  }

  /** Those of several users, by the identifier of the user. */
  async ofUsers(
    ids: readonly string[],
    call: Pick<CallContext, "signal">,
  ): Promise<ReadonlyMap<string, readonly string[]>> {
    const groups = new Map<string, readonly string[]>();
    const left = ids.values();
    const read = async (): Promise<void> => {
      for (const id of left) groups.set(id, await this.ofUser(id, call));
    };
    await Promise.all(Array.from({ length: AT_ONCE }, read));
    return groups;
  }
}
