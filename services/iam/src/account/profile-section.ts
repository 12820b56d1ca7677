import { create } from "@bufbuild/protobuf";
import { FieldMaskSchema } from "@bufbuild/protobuf/wkt";
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
import type {
  AccountSection,
  AccountVisit,
  SectionForms,
  SectionResult,
} from "./account-section.ts";
import { type ProfileValues, preferenceProblems, profileForms } from "./profile-forms.ts";

/** What the profile needs. */
export interface ProfileSectionOptions {
  readonly accounts: Pick<LocalAccounts, "changeProfile">;
  readonly preferences: Pick<CurrentPreferences, "getOf" | "chosenBy" | "updateOf">;
}

const CHANGED: MessageKey =
  "Somebody else has changed it meanwhile. Check the values, and send them again.";

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

  async showAgain(
    visit: AccountVisit,
    form: URLSearchParams,
    problem: MessageKey,
  ): Promise<SectionForms> {
    const stored = await this.#values(visit);
    const typed =
      form.get("action") === "preferences"
        ? choicesOf(form, stored)
        : // With the version that was edited: a change in the meantime is not overwritten.
          { ...profileOf(form), etag: form.get("etag") ?? "" };
    return { body: profileForms({ ...stored, ...typed, problem }) };
  }

  async show(visit: AccountVisit): Promise<SectionForms> {
    return { body: profileForms(await this.#values(visit)) };
  }

  async act(visit: AccountVisit, form: URLSearchParams): Promise<SectionResult> {
    return form.get("action") === "preferences"
      ? this.#savePreferences(visit, form)
      : this.#saveProfile(visit, form);
  }

  async #saveProfile(visit: AccountVisit, form: URLSearchParams): Promise<SectionResult> {
    const { account, call } = visit;
    const { displayName, avatarUrl } = profileOf(form);
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
    const stored = await this.#values(visit);
    const sent = preferencesOf(form, stored);
    const problems = preferenceProblems(sent, stored);
    const values = { ...stored, ...choicesOf(form, stored) };
    if (Object.values(problems).includes(true)) {
      return { status: 400, body: profileForms({ ...values, problems }) };
    }
    const { language, timeZone, theme } = values;
    const preferences = create(UserPreferencesSchema, { language, timeZone, theme });
    // An empty language is one, too.
    const updateMask = create(FieldMaskSchema, { paths: ["language", "time_zone", "theme"] });
    try {
      const change = { preferences, updateMask };
      await this.#options.preferences.updateOf(subjectOf(visit), change, call.signal);
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code !== "FAILED_PRECONDITION") throw error;
      return { status: 400, body: profileForms({ ...values, problem: CHANGED }) };
    }
    await recordChange("preferences.changed", account.id, call);
    return { done: "preferences" };
  }

  async #values(visit: AccountVisit): Promise<ProfileValues> {
    const { account, token } = visit;
    const { preferences } = this.#options;
    const stored = (await preferences.getOf(subjectOf(visit))) as UserPreferences;
    const { language } = await preferences.chosenBy(subjectOf(visit));
    const { username, email, displayName, avatarUrl, etag } = account;
    const { timeZone, theme } = stored;
    return { username, email, displayName, avatarUrl, etag, language, timeZone, theme, token };
  }
}

function subjectOf({ account }: AccountVisit): string {
  return `user:${account.id}`;
}

function profileOf(form: URLSearchParams) {
  // Keyboards of phones add a space after a word that they complete.
  const textOf = (name: string) => (form.get(name) ?? "").trim();
  return { displayName: textOf("display_name"), avatarUrl: textOf("avatar_url") };
}

function preferencesOf(form: URLSearchParams, stored: ProfileValues) {
  return {
    language: form.get("language") ?? stored.language,
    timeZone: form.get("time_zone") ?? "",
    theme: (Number(form.get("theme")) || Theme.SYSTEM) as Theme,
  };
}

/** The preferences of a form that can be chosen; in place of the others those that are stored. */
function choicesOf(form: URLSearchParams, stored: ProfileValues) {
  const sent = preferencesOf(form, stored);
  const isWrong = preferenceProblems(sent, stored);
  return {
    language: isWrong.language ? stored.language : sent.language,
    timeZone: (isWrong.timeZone ? "" : sent.timeZone) || stored.timeZone,
    theme: isWrong.theme ? stored.theme : sent.theme,
  };
}

function recordChange(event: string, accountId: string, { audit }: CallContext) {
  return audit.record({ event, riskLevel: "LOW", resource: `user:${accountId}` });
}
