import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  type CallContext,
  type Principal,
  requirePrincipal,
  ServiceError,
} from "svc-access/runtime";
import type { CurrentUserSchema, UpdateMeRequest } from "../../gen/svc/iam/v1/auth_pb.ts";
import { BatchedReads } from "../accounts/batched-reads.ts";
import { displayNameProblem } from "../accounts/display-name.ts";
import type { LocalAccount, LocalAccounts } from "../accounts/local-accounts.ts";
import type { Groups } from "../users/groups.ts";
import { avatarUrlProblem } from "./avatar-url.ts";
import { changedFields } from "./field-mask.ts";
import type { Profile, ProfileStore } from "./profiles.ts";

/** What the caller's own record is made from. */
export interface CurrentUserOptions {
  /** The local accounts; undefined where another provider has the accounts. */
  readonly accounts: LocalAccounts | undefined;
  readonly profiles: ProfileStore;
  readonly groups: Groups;
}

/** A profile and where it is kept. */
interface Own {
  /** Undefined where nothing is stored yet. */
  readonly profile: Profile | undefined;
  readonly isLocal: boolean;
}

/** Shows callers the record of themselves, and lets them change it. */
export class CurrentUser {
  readonly #options: CurrentUserOptions;
  /** Each page of a console reads its user. */
  readonly #accounts: BatchedReads<LocalAccount> | undefined;

  constructor(options: CurrentUserOptions) {
    const { accounts } = options;
    this.#options = options;
    this.#accounts =
      accounts === undefined ? undefined : new BatchedReads((ids) => accounts.findAll(ids));
  }

  /** The caller as the identity provider and this service know it. */
  async get(context: CallContext): Promise<MessageInitShape<typeof CurrentUserSchema>> {
    const principal = requirePrincipal(context);
    const { profile } = await this.#own(principal);
    return this.#message(principal, profile, context.signal);
  }

  /**
   * Changes the caller's name and picture.
   *
   * @throws ServiceError INVALID_ARGUMENT for values that are not valid; FAILED_PRECONDITION where the
   * etag is another one by now
   */
  async update(
    { user, updateMask }: UpdateMeRequest,
    context: CallContext,
  ): Promise<MessageInitShape<typeof CurrentUserSchema>> {
    const principal = requirePrincipal(context);
    const { name = "", avatarUrl = "", etag = "" } = user ?? {};
    const changed = changedFields(updateMask, {
      name: name !== "",
      avatar_url: avatarUrl !== "",
    });
    if (changed.has("name")) assertValid("name", displayNameProblem(name));
    if (changed.has("avatar_url")) assertValid("avatar_url", avatarUrlProblem(avatarUrl));
    const own = await this.#own(principal);
    if (etag !== "" && etag !== own.profile?.etag) throw changedMeanwhile();
    if (changed.size === 0) return this.#message(principal, own.profile, context.signal);
    const profile = await this.#store(principal, own, {
      name: changed.has("name") ? name : (own.profile?.name ?? principal.name),
      avatarUrl: changed.has("avatar_url") ? avatarUrl : (own.profile?.avatarUrl ?? ""),
    });
    return this.#message(principal, profile, context.signal);
  }

  async #own(principal: Principal): Promise<Own> {
    const { profiles } = this.#options;
    const account =
      principal.subjectType === "user"
        ? await this.#accounts?.find(principal.subjectId)
        : undefined;
    if (account === undefined) {
      return { profile: await profiles.find(subjectOf(principal)), isLocal: false };
    }
    const { displayName: name, avatarUrl, etag } = account;
    return { profile: { name, avatarUrl, etag }, isLocal: true };
  }

  async #store(
    principal: Principal,
    { profile, isLocal }: Own,
    next: Omit<Profile, "etag">,
  ): Promise<Profile> {
    const { accounts, profiles } = this.#options;
    if (!isLocal) {
      const stored = await profiles.replace(subjectOf(principal), next, profile?.etag);
      if (stored === undefined) throw changedMeanwhile();
      return stored;
    }
    const change = { displayName: next.name, avatarUrl: next.avatarUrl };
    const account = await accounts?.changeProfile(principal.subjectId, change, profile?.etag);
    if (account === undefined) throw changedMeanwhile();
    return { ...next, etag: account.etag };
  }

  async #message(
    principal: Principal,
    profile: Profile | undefined,
    signal: AbortSignal,
  ): Promise<MessageInitShape<typeof CurrentUserSchema>> {
    const { subjectId, subjectType, username, email, organizationId } = principal;
    const { roles, scopes, source } = principal;
    const stored =
      subjectType === "user" ? await this.#options.groups.ofUser(subjectId, signal) : [];
    const groups = new Set([...stored, ...principal.groups]);
    return {
      subjectId,
      username,
      name: profile?.name ?? principal.name,
      email,
      organizationId,
      groups: [...groups],
      roles: [...roles],
      scopes: [...scopes],
      source,
      avatarUrl: profile?.avatarUrl ?? "",
      etag: profile?.etag ?? "",
    };
  }
}

/** The key of what a caller keeps here: ids are unique among callers of one type. */
export function subjectOf({ subjectType, subjectId }: Principal): string {
  return `${subjectType}:${subjectId}`;
}

function assertValid(field: string, problem: string | undefined): void {
  if (problem === undefined) return;
  throw new ServiceError("INVALID_ARGUMENT", `${field} ${problem}`, {
    details: { fields: { [field]: problem } },
  });
}

function changedMeanwhile(): ServiceError {
  return new ServiceError(
    "FAILED_PRECONDITION",
    "the profile was changed meanwhile: read it again, and repeat the change",
  );
}
