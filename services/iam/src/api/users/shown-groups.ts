import type { AuthorizationEngine } from "svc-access/authz";
import { type CallContext, requirePrincipal } from "svc-access/runtime";
import type { GroupRecords } from "../groups/group-records.ts";
import { GroupVisibility } from "../groups/group-visibility.ts";
import { Groups } from "./groups.ts";

/** The groups of users, as far as callers may see them. */
export class ShownGroups {
  readonly #groups: Groups;
  readonly #visibility: GroupVisibility;
  readonly #organization: string;

  /** @param organization whose users they are */
  constructor(
    engine: AuthorizationEngine,
    organization: string,
    records: Pick<GroupRecords, "findAll">,
  ) {
    this.#groups = new Groups(engine);
    this.#visibility = new GroupVisibility(engine, records);
    this.#organization = organization;
  }

  /** Those of one user. @throws ServiceError or AuthzError */
  async ofUser(id: string, context: CallContext): Promise<readonly string[]> {
    return (await this.ofUsers([id], context)).get(id) ?? [];
  }

  /** Those of several users, by the identifier of the user. @throws ServiceError or AuthzError */
  async ofUsers(
    ids: readonly string[],
    context: CallContext,
  ): Promise<ReadonlyMap<string, readonly string[]>> {
    const groups = await this.#groups.ofUsers(ids, context);
    const named = [...groups.values()].flat();
    if (named.length === 0) return groups;
    const caller = requirePrincipal(context);
    const { signal } = context;
    const visible = await this.#visibility.among(caller, this.#organization, named, signal);
    return new Map([...groups].map(([id, all]) => [id, all.filter((one) => visible.has(one))]));
  }
}
