import type { AuthorizationEngine, CallOptions, ObjectReference } from "svc-access/authz";
import { EngineReads } from "../../rights/engine-reads.ts";
import { objectText } from "../../rights/relationships.ts";
import { AccessWalk, type FoundAccess } from "./access-walk.ts";
import type { ListTokens } from "./list-token.ts";
import type { Visibility } from "./visibility.ts";

/** Whose access is listed. */
export interface ListedAccess {
  readonly resource: ObjectReference;
  readonly permission: string;
  /** Empty: of all types. */
  readonly subjectType: string;
}

/** A page of those who hold a permission. */
export interface AccessPage {
  readonly entries: readonly FoundAccess[];
  /** Empty on the last page. */
  readonly nextPageToken: string;
  readonly revision: string;
  readonly incomplete: boolean;
}

/** Lists who holds a permission, as far as the caller may see why. */
export class AccessList {
  readonly #engine: AuthorizationEngine;
  readonly #visibility: Visibility;
  readonly #tokens: ListTokens;
  readonly #options: CallOptions;

  constructor(
    engine: AuthorizationEngine,
    visibility: Visibility,
    tokens: ListTokens,
    options: CallOptions,
  ) {
    this.#engine = engine;
    this.#tokens = tokens;
    this.#visibility = visibility;
    this.#options = options;
  }

  /** @throws ServiceError INVALID_ARGUMENT for a token that is not of this list; AuthzError */
  async page(listed: ListedAccess, size: number, pageToken: string): Promise<AccessPage> {
    const { resource, permission, subjectType } = listed;
    const list = [objectText(resource), permission, subjectType];
    const from = this.#tokens.read(list, pageToken)?.resourceId ?? "";
    const reads = new EngineReads(this.#engine, { newest: false, ...this.#options });
    const walk = new AccessWalk(this.#engine, reads, this.#visibility);
    const { found, incomplete } = await walk.from(resource, permission);
    const keys = [...found]
      .filter(([, { subject }]) => isOf(subjectType, subject))
      .map(([text, { subject }]) => `${subject === undefined ? "~" : "+"}${text}`)
      .filter((key) => key > from)
      .sort(byText);
    const page = keys.slice(0, size);
    const entries = page.map((key) => found.get(key.slice(1)) as FoundAccess);
    const last = page.at(-1);
    return {
      entries: await this.#holding(listed, entries, await reads.revision()),
      nextPageToken:
        keys.length > size && last !== undefined
          ? this.#tokens.write(list, { resourceId: last })
          : "",
      revision: await reads.revision(),
      incomplete,
    };
  }

  /** Those who hold the permission; a check decides, except about all of a type and what is not shown. */
  async #holding(
    { resource, permission }: ListedAccess,
    entries: readonly FoundAccess[],
    atLeastAsFresh: string,
  ): Promise<readonly FoundAccess[]> {
    const checks = entries.flatMap(({ subject }) =>
      subject === undefined || subject.id === "*" ? [] : [{ resource, permission, subject }],
    );
    if (checks.length === 0) return entries;
    const { signal } = this.#options;
    const options = { atLeastAsFresh, ...(signal && { signal }) };
    const { items } = await this.#engine.checkBulk(checks, options);
    const denied = new Set<unknown>();
    for (const [index, item] of items.entries()) {
      if (item.error !== undefined) throw item.error;
      if (!item.allowed) denied.add(checks[index]?.subject);
    }
    return entries.filter(({ subject }) => !denied.has(subject));
  }
}

function isOf(type: string, subject: FoundAccess["subject"]): boolean {
  return type === "" || subject === undefined || subject.type === type;
}

function byText(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
