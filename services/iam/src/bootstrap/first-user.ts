import type { ServiceDatabase } from "svc-access/database";
import type { AuditRecorder, CallContext } from "svc-access/runtime";
import type { IamTables } from "../ground/store/tables.ts";
import { displayNameProblem, emailProblem, usernameKey } from "../people/accounts/account-texts.ts";
import type { LocalAccounts, NewAccount } from "../people/accounts/local-accounts.ts";
import type { PasswordHasher } from "../people/accounts/passwords/password-hasher.ts";
import { passwordProblem } from "../people/accounts/passwords/password-rules.ts";
import { usernameProblem } from "../people/accounts/username-problem.ts";
import { type BootstrapLink, type BootstrapLinks, GRACE_MS } from "./bootstrap-links.ts";
import type { FieldProblems, FirstUserFields } from "./bootstrap-pages.ts";
import { resumeEach } from "./resume-each.ts";
import type { UsedLinks } from "./used-links.ts";
import type { ZoneOwners } from "./zone-owners.ts";

/** What a person entered. */
export interface FirstUserForm extends FirstUserFields {
  readonly password: string;
  readonly repeated: string;
}

/** What became of a form. */
export type FirstUserResult =
  | { readonly outcome: "made" }
  | { readonly outcome: "invalid"; readonly problems: FieldProblems }
  /** The zone has an owner. */
  | { readonly outcome: "owned" }
  /** The link no longer works: maybe the same form has used it a moment before. */
  | { readonly outcome: "dead" };

/** What making the first user needs. */
export interface FirstUserOptions {
  readonly database: ServiceDatabase<IamTables>;
  readonly links: BootstrapLinks;
  readonly owners: ZoneOwners;
  readonly used: UsedLinks;
  readonly accounts: LocalAccounts;
  readonly hasher: PasswordHasher;
  /** For users whom the job completes. */
  readonly recorder: Pick<AuditRecorder, "record">;
}

/**
 * Makes the first user of a zone. Its data is stored with the link, then the user becomes the owner,
 * which is recorded, and only then the account exists: if the process ends between these steps, the same link, or the
 * job, continues from there.
 */
export class FirstUser {
  readonly #options: FirstUserOptions;

  constructor(options: FirstUserOptions) {
    this.#options = options;
  }

  /**
   * Makes the user of a link.
   *
   * @throws QueueFullError where too many passwords are hashed; AuthzError, DatabaseError, ServiceError:
   * the link can be used again
   */
  async make(
    link: BootstrapLink,
    form: FirstUserForm,
    { signal, audit }: Pick<CallContext, "signal" | "audit">,
  ): Promise<FirstUserResult> {
    const { links, owners, used, hasher, accounts } = this.#options;
    const problems = await this.#problems(link, form);
    if (Object.keys(problems).length > 0) return { outcome: "invalid", problems };
    const { username, displayName, email, password } = form;
    const passwordHash = await hasher.hash(password, signal);
    const account: NewAccount = { username, displayName, email, passwordHash };
    await accounts.assertOpen();
    if (!(await links.begin(link, account))) return { outcome: "dead" };
    const { zone, accountId, hash } = link;
    const isOwner =
      (await owners.makeFirstOwner(zone, accountId, signal)) ||
      // An earlier attempt with this link has.
      (await owners.hasOwner(zone, signal, accountId));
    if (!isOwner) {
      await links.end(hash);
      return { outcome: "owned" };
    }
    await used.record(link, accountId, audit);
    return this.#finish(link, account);
  }

  /** Completes what a process has begun that has ended, and forgets what came to nothing. */
  async resume(signal: AbortSignal, now = Date.now()): Promise<void> {
    const { links } = this.#options;
    try {
      await resumeEach(await links.begun(), signal, (link) => this.#resume(link, signal, now));
    } finally {
      if (!signal.aborted) await links.removeExpired();
    }
  }

  async #resume(link: BootstrapLink, signal: AbortSignal, now: number): Promise<void> {
    const { links, owners, used, recorder, accounts } = this.#options;
    if (link.pending === undefined) return;
    if (await owners.hasOwner(link.zone, signal, link.accountId)) {
      // Its user would belong to this organization: a replica of its own completes it.
      if (link.zone !== accounts.organization) return;
      await used.record(link, link.accountId, recorder);
      await this.#finish(link, link.pending);
    } else if (link.expireTime + GRACE_MS < now) {
      await links.end(link.hash);
    }
  }

  async #finish(link: BootstrapLink, account: NewAccount): Promise<FirstUserResult> {
    const { database, links, accounts } = this.#options;
    try {
      return await database.inTransaction(async (tx): Promise<FirstUserResult> => {
        if (!(await links.end(link.hash, tx))) return { outcome: "dead" };
        const users = tx.$pickTables<"iam_users" | "iam_user_organization">();
        const made = await accounts.create(account, link.accountId, users);
        if (made === undefined) throw new NameTakenError();
        return { outcome: "made" };
      });
    } catch (error) {
      if (!(error instanceof NameTakenError)) throw error;
      return { outcome: "invalid", problems: { username: "is taken" } };
    }
  }

  async #problems(link: BootstrapLink, form: FirstUserForm): Promise<FieldProblems> {
    const { username, displayName, email, password, repeated } = form;
    const found = {
      username: usernameProblem(username) ?? (await this.#takenProblem(link, username)),
      display_name: displayNameProblem(displayName),
      email: emailProblem(email),
      password: await passwordProblem(password, form),
      repeated: password === repeated ? undefined : "is another one",
    };
    return Object.fromEntries(
      Object.entries(found).filter((entry): entry is [string, string] => entry[1] !== undefined),
    );
  }

  async #takenProblem(link: BootstrapLink, username: string): Promise<string | undefined> {
    const known = await this.#options.accounts.findForLogin(usernameKey(username));
    // The same form, sent a moment before, may have made the user of this link.
    return known === undefined || known.account.id === link.accountId ? undefined : "is taken";
  }
}

/** Rolls the transaction back. */
class NameTakenError extends Error {}
