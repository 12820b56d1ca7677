import { create } from "@bufbuild/protobuf";
import type { CallContext } from "svc-access/runtime";
import { ServiceError } from "svc-access/runtime";
import {
  Theme,
  type UserPreferences,
  UserPreferencesSchema,
} from "../../gen/svc/iam/v1/auth_pb.ts";
import type { CurrentPreferences } from "../api/me/user-preferences.ts";
import type { MessageKey } from "../pages/texts.ts";
import { avatarUrlProblem, displayNameProblem } from "../people/accounts/account-texts.ts";
import type { LocalAccounts } from "../people/accounts/local-accounts.ts";
import type { AccountSection, AccountVisit, SectionResult } from "./account-section.ts";
import { type ProfileValues, profileForms } from "./profile-forms.ts";

/** What the profile needs. */
export interface ProfileSectionOptions {
  readonly accounts: Pick<LocalAccounts, "changeProfile">;
  readonly preferences: Pick<CurrentPreferences, "getOf" | "updateOf">;
}

const CHANGED: MessageKey =
  "Somebody else has changed it meanwhile. Check the values, and send them again.";
const REFUSED: MessageKey = "The preferences are not valid. Choose others.";

/** The profile and the preferences of somebody. */
export class ProfileSection implements AccountSection {
  readonly name = "";
  readonly title = "Your account";
  readonly messages: Readonly<Record<string, MessageKey>> = {
    profile: "Your profile was saved.",
    preferences: "Your preferences were saved.",
  };
  readonly #options: ProfileSectionOptions;

  constructor(options: ProfileSectionOptions) {
    this.#options = options;
  }

  async show(visit: AccountVisit) {
    return { body: profileForms(await this.#values(visit)) };
  }

  async act(visit: AccountVisit, form: URLSearchParams): Promise<SectionResult> {
    return form.get("action") === "preferences"
      ? this.#savePreferences(visit, form)
      : this.#saveProfile(visit, form);
  }

  async #saveProfile(visit: AccountVisit, form: URLSearchParams): Promise<SectionResult> {
    const { account, call } = visit;
    const displayName = form.get("display_name") ?? "";
    const avatarUrl = form.get("avatar_url") ?? "";
    const isRenamed = displayName !== account.displayName;
    const isPictured = avatarUrl !== account.avatarUrl;
    // Somebody keeps the name and the picture of before a rule on new ones.
    const problems = {
      displayName: isRenamed ? displayNameProblem(displayName) : undefined,
      avatarUrl: isPictured ? avatarUrlProblem(avatarUrl) : undefined,
    };
    const values = { ...(await this.#values(visit)), displayName, avatarUrl };
    if (problems.displayName !== undefined || problems.avatarUrl !== undefined) {
      return { status: 400, body: profileForms({ ...values, problems }) };
    }
    const change = { displayName, avatarUrl };
    const etag = form.get("etag") ?? "";
    if ((await this.#options.accounts.changeProfile(account.id, change, etag)) === undefined) {
      return { status: 409, body: profileForms({ ...values, problem: CHANGED }) };
    }
    await recordChange("profile.changed", account.id, call);
    return { done: "profile" };
  }

  async #savePreferences(visit: AccountVisit, form: URLSearchParams): Promise<SectionResult> {
    const { account, call } = visit;
    const preferences = create(UserPreferencesSchema, {
      language: form.get("language") ?? "",
      timeZone: form.get("time_zone") ?? "",
      theme: (Number(form.get("theme")) || Theme.SYSTEM) as Theme,
    });
    try {
      await this.#options.preferences.updateOf(subjectOf(visit), { preferences });
    } catch (error) {
      const problem = problemOf(error);
      if (problem === undefined) throw error;
      const values = await this.#values(visit);
      return { status: 400, body: profileForms({ ...values, problem }) };
    }
    await recordChange("preferences.changed", account.id, call);
    return { done: "preferences" };
  }

  async #values(visit: AccountVisit): Promise<ProfileValues> {
    const { account, token } = visit;
    const stored = (await this.#options.preferences.getOf(subjectOf(visit))) as UserPreferences;
    const { username, email, displayName, avatarUrl, etag } = account;
    const { language, timeZone, theme } = stored;
    return { username, email, displayName, avatarUrl, etag, language, timeZone, theme, token };
  }
}

function subjectOf({ account }: AccountVisit): string {
  return `user:${account.id}`;
}

function problemOf(error: unknown): MessageKey | undefined {
  if (!(error instanceof ServiceError)) return undefined;
  if (error.code === "FAILED_PRECONDITION") return CHANGED;
  return error.code === "INVALID_ARGUMENT" ? REFUSED : undefined;
}

function recordChange(event: string, accountId: string, { audit }: CallContext) {
  return audit.record({ event, riskLevel: "LOW", resource: `user:${accountId}` });
}
