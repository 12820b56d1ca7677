import { create } from "@bufbuild/protobuf";
import {
  type CallContext,
  type Principal,
  requirePrincipal,
  reusableMessage,
  ServiceError,
} from "svc-access/runtime";
import {
  type CurrentUser as CurrentUserMessage,
  CurrentUserSchema,
  type UpdateMeRequest,
} from "../../../gen/svc/iam/v1/auth_pb.ts";
import { refuseFixedFields } from "../../ground/rpc/fixed-fields.ts";
import { ChangedMeanwhileError, changeNewest } from "../../ground/rpc/lost-race.ts";
import { changedFields } from "../../ground/rpc/request-fields.ts";
import { avatarUrlProblem, displayNameProblem } from "../../people/accounts/account-texts.ts";
import type { LocalAccounts } from "../../people/accounts/local-accounts.ts";
import { requireUser } from "../own-organization.ts";
import type { Groups } from "../users/groups.ts";
import type { LocalProfiles } from "./local-profiles.ts";
import type { Profile, ProfileStore } from "./profiles.ts";

/** The accounts of the local users, and how their profiles are read. */
export interface LocalUsers {
  readonly accounts: LocalAccounts;
  readonly profiles: LocalProfiles;
}

/** What the caller's own record is made from. */
export interface CurrentUserOptions {
  /** The local users; undefined where another provider has the accounts. */
  readonly local: LocalUsers | undefined;
  readonly profiles: ProfileStore;
  readonly groups: Groups;
  /** `iam.organization`, to which the local users belong. */
  readonly organization: string;
}

/** A profile and where it is kept. */
interface Own {
  /** Undefined where nothing is stored yet. */
  readonly profile: Profile | undefined;
  readonly isLocal: boolean;
}

/** A record, and what it was made from. */
interface Shown {
  readonly profile: Profile | undefined;
  readonly groups: readonly string[];
  /** At which revision of the relationships the groups were read, or one before; undefined if that is not known. */
  revision: string | undefined;
  readonly message: CurrentUserMessage;
}

/** Shows callers the record of themselves, and lets them change it. */
export class CurrentUser {
  readonly #options: CurrentUserOptions;
  /** What callers were shown last: a token that was verified has the same principal each time. */
  readonly #shown = new WeakMap<Principal, Shown>();

  constructor(options: CurrentUserOptions) {
    this.#options = options;
  }

  /** The caller as the identity provider and this service know it. */
  async get(context: CallContext): Promise<CurrentUserMessage> {
    const principal = requirePrincipal(context);
    // Each page of a console reads this, so that it waits for nothing but the read.
    const profile =
      (await this.#localProfile(principal)) ??
      (await this.#options.profiles.find(this.#keyOf(principal)));
    const shown = this.#shown.get(principal);
    // Before the groups are read, which may have changed since.
    const revision = this.#options.groups.revision();
    const isCurrent = revision !== undefined && revision === shown?.revision;
    const found = isCurrent ? shown.groups : this.#groupsOf(principal, context);
    const groups = found instanceof Promise ? await found : found;
    if (shown !== undefined && isSame(shown, profile, groups)) {
      shown.revision = revision;
      return shown.message;
    }
    const message = reusableMessage(messageOf(principal, profile, groups));
    this.#shown.set(principal, { profile, groups, revision, message });
    return message;
  }

  /**
   * Changes the name and picture of the caller, who must be a user: a service account has those of its declaration or of
   * `UpdateServiceAccount`.
   *
   * @throws ServiceError FORBIDDEN for other callers; INVALID_ARGUMENT for values that are not valid; FAILED_PRECONDITION where the
   * etag is another one by now
   */
  async update(request: UpdateMeRequest, context: CallContext): Promise<CurrentUserMessage> {
    const principal = requireUser(context);
    const etag = request.user?.etag ?? "";
    return changeNewest(etag, context.signal, () => this.#change(principal, request, context));
  }

  async #change(
    principal: Principal,
    { user, updateMask }: UpdateMeRequest,
    context: CallContext,
  ): Promise<CurrentUserMessage> {
    const { name = "", avatarUrl = "", etag = "" } = user ?? {};
    const changed = changedFields(updateMask, {
      name: name !== "",
      avatar_url: avatarUrl !== "",
    });
    const own = await this.#own(principal);
    const { profile: stored } = own;
    // Somebody keeps the name and the picture of before a rule on new ones, also if a client sends all fields.
    if (changed.has("name") && name !== stored?.name) {
      assertValid("name", displayNameProblem(name));
    }
    if (changed.has("avatar_url") && avatarUrl !== stored?.avatarUrl) {
      assertValid("avatar_url", avatarUrlProblem(avatarUrl));
    }
    if (etag !== "" && etag !== own.profile?.etag) throw changedMeanwhile();
    await refuseFixedFields(
      {
        schema: CurrentUserSchema,
        given: user,
        mask: updateMask,
        changeable: ["name", "avatar_url"],
      },
      async () => messageOf(principal, stored, await this.#groupsOf(principal, context)),
    );
    if (changed.size === 0) {
      return messageOf(principal, own.profile, await this.#groupsOf(principal, context));
    }
    const profile = await this.#store(principal, own, {
      name: changed.has("name") ? name : (own.profile?.name ?? principal.name),
      avatarUrl: changed.has("avatar_url") ? avatarUrl : (own.profile?.avatarUrl ?? ""),
    });
    return messageOf(principal, profile, await this.#groupsOf(principal, context));
  }

  async #own(principal: Principal): Promise<Own> {
    const profile = await this.#localProfile(principal);
    if (profile !== undefined) return { profile, isLocal: true };
    return { profile: await this.#options.profiles.find(this.#keyOf(principal)), isLocal: false };
  }

  /** Of a local user, as far as there is one: a user of another organization may have the same id. */
  #localProfile(principal: Principal): Promise<Profile | undefined> | undefined {
    return this.#isOwnUser(principal)
      ? this.#options.local?.profiles.find(principal.subjectId)
      : undefined;
  }

  #isOwnUser({ subjectType, organizationId }: Principal): boolean {
    return subjectType === "user" && isOwn(organizationId, this.#options.organization);
  }

  #keyOf(principal: Principal): string {
    return subjectOf(principal, this.#options.organization);
  }

  async #store(
    principal: Principal,
    { profile, isLocal }: Own,
    next: Omit<Profile, "etag">,
  ): Promise<Profile> {
    const { local, profiles } = this.#options;
    if (!isLocal) {
      const stored = await profiles.replace(this.#keyOf(principal), next, profile?.etag);
      if (stored === undefined) throw changedMeanwhile();
      return stored;
    }
    const change = { displayName: next.name, avatarUrl: next.avatarUrl };
    const account = await local?.accounts.changeProfile(principal.subjectId, change, profile?.etag);
    if (account === undefined) throw changedMeanwhile();
    return { ...next, etag: account.etag };
  }

  /**
   * Not a promise where the engine is in this process: pages read this for each of their requests. The groups of a local
   * user are not shown to a user of another organization who has the same id.
   */
  #groupsOf(
    principal: Principal,
    context: CallContext,
  ): readonly string[] | Promise<readonly string[]> {
    const { local, groups } = this.#options;
    const hasGroups =
      local === undefined ? principal.subjectType === "user" : this.#isOwnUser(principal);
    return hasGroups ? groups.ofUser(principal.subjectId, context) : [];
  }
}

function messageOf(
  principal: Principal,
  profile: Profile | undefined,
  stored: readonly string[],
): CurrentUserMessage {
  const { subjectId, username, email, organizationId, roles, scopes, source } = principal;
  return create(CurrentUserSchema, {
    subjectId,
    username,
    name: profile?.name ?? principal.name,
    email,
    organizationId,
    groups: [...new Set([...stored, ...principal.groups])],
    roles: [...roles],
    scopes: [...scopes],
    source,
    avatarUrl: profile?.avatarUrl ?? "",
    etag: profile?.etag ?? "",
  });
}

function isSame(shown: Shown, profile: Profile | undefined, groups: readonly string[]): boolean {
  const { etag, name, avatarUrl } = shown.profile ?? {};
  return (
    etag === profile?.etag &&
    name === profile?.name &&
    avatarUrl === profile?.avatarUrl &&
    groups.length === shown.groups.length &&
    groups.every((group, index) => group === shown.groups[index])
  );
}

/**
 * The key of what a caller keeps here. Ids are unique among callers of one type and organization; those of the
 * organization of this service, and those of whom no organization is named, go without its id, and no other key has
 * their form.
 */
export function subjectOf(
  {
    subjectType,
    subjectId,
    organizationId,
  }: Pick<Principal, "subjectType" | "subjectId" | "organizationId">,
  organization: string,
): string {
  return isOwn(organizationId, organization)
    ? `${subjectType}:${subjectId}`
    : JSON.stringify([subjectType, organizationId, subjectId]);
}

/** Not every gateway and every token names the organization. */
function isOwn(organizationId: string, organization: string): boolean {
  return organizationId === "" || organizationId === organization;
}

function assertValid(field: string, problem: string | undefined): void {
  if (problem === undefined) return;
  throw new ServiceError("INVALID_ARGUMENT", `${field} ${problem}`, {
    details: { fields: { [field]: problem } },
  });
}

function changedMeanwhile(): ChangedMeanwhileError {
  return new ChangedMeanwhileError(
    "the profile was changed meanwhile: read it again, and repeat the change",
  );
}
