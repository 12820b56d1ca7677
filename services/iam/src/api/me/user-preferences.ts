import { create, fromJsonString, type MessageInitShape, toJsonString } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { type CallContext, requirePrincipal, ServiceError } from "svc-access/runtime";
import {
  Theme,
  ThemeSchema,
  type UpdateUserPreferencesRequest,
  type UserPreferences,
  UserPreferencesSchema,
} from "../../../gen/svc/iam/v1/auth_pb.ts";
import { ChangedMeanwhileError, changeNewest } from "../../ground/rpc/lost-race.ts";
import { changedFields } from "../../ground/rpc/request-fields.ts";
import { requireUser } from "../own-organization.ts";
import { subjectOf } from "./current-user.ts";
import type { PreferenceStore, StoredPreferences } from "./preferences.ts";

const LONGEST_SETTINGS_BYTES = 16 * 1024;
const LONGEST_LANGUAGE = 64;
const DEFAULTS = { language: "en", timeZone: "UTC", theme: Theme.SYSTEM } as const;

type PreferenceChange = Pick<UpdateUserPreferencesRequest, "preferences" | "updateMask">;

/** Shows callers their own preferences, and lets them change them. */
export class CurrentPreferences {
  readonly #store: PreferenceStore;
  readonly #organization: string;

  /** @param organization `iam.organization` */
  constructor(store: PreferenceStore, organization: string) {
    this.#store = store;
    this.#organization = organization;
  }

  /** The caller's preferences, with defaults for what was never set. */
  async get(context: CallContext): Promise<MessageInitShape<typeof UserPreferencesSchema>> {
    return this.getOf(subjectOf(requirePrincipal(context), this.#organization));
  }

  /** The preferences of a subject, likewise. */
  async getOf(subject: string): Promise<MessageInitShape<typeof UserPreferencesSchema>> {
    return messageOf(await this.#store.find(subject));
  }

  /** What a subject has set: the rest is empty. */
  async chosenBy(subject: string): Promise<UserPreferences> {
    return read(await this.#store.find(subject));
  }

  /**
   * Changes some of the preferences of the caller, who must be a user.
   *
   * @throws ServiceError FORBIDDEN for other callers; INVALID_ARGUMENT for values that are not valid; FAILED_PRECONDITION where the
   * etag is another one by now
   */
  async update(
    request: UpdateUserPreferencesRequest,
    context: CallContext,
  ): Promise<MessageInitShape<typeof UserPreferencesSchema>> {
    const subject = subjectOf(requireUser(context), this.#organization);
    return this.updateOf(subject, request, context.signal);
  }

  /** Changes some of the preferences of a subject, likewise. */
  async updateOf(
    subject: string,
    { preferences, updateMask }: PreferenceChange,
    signal: AbortSignal,
  ): Promise<MessageInitShape<typeof UserPreferencesSchema>> {
    const given = preferences ?? create(UserPreferencesSchema);
    const changed = changedFields(updateMask, {
      language: given.language !== "",
      time_zone: given.timeZone !== "",
      theme: given.theme !== Theme.UNSPECIFIED,
      settings: given.settings !== undefined,
    });
    assertValid(given, changed);
    return changeNewest(given.etag, signal, () => this.#change(subject, given, changed));
  }

  async #change(subject: string, given: UserPreferences, changed: ReadonlySet<string>) {
    const stored = await this.#store.find(subject);
    if (given.etag !== "" && given.etag !== stored?.etag) throw changedMeanwhile();
    if (changed.size === 0) return messageOf(stored);
    const next = read(stored);
    if (changed.has("language")) next.language = canonicalLanguage(given.language);
    if (changed.has("time_zone")) next.timeZone = given.timeZone;
    if (changed.has("theme")) next.theme = given.theme;
    if (changed.has("settings")) {
      if (given.settings === undefined) delete next.settings;
      else next.settings = given.settings;
    }
    const document = toJsonString(UserPreferencesSchema, next);
    const replaced = await this.#store.replace(subject, document, stored?.etag);
    if (replaced === undefined) throw changedMeanwhile();
    return messageOf(replaced);
  }
}

/** What is stored, without defaults. */
function read(stored: StoredPreferences | undefined): UserPreferences {
  if (stored === undefined) return create(UserPreferencesSchema);
  // A later version of this service may have stored more.
  return fromJsonString(UserPreferencesSchema, stored.document, { ignoreUnknownFields: true });
}

function messageOf(
  stored: StoredPreferences | undefined,
): MessageInitShape<typeof UserPreferencesSchema> {
  const { language, timeZone, theme, settings } = read(stored);
  return {
    language: language || DEFAULTS.language,
    timeZone: timeZone || DEFAULTS.timeZone,
    theme: theme === Theme.UNSPECIFIED ? DEFAULTS.theme : theme,
    ...(settings === undefined ? {} : { settings }),
    ...(stored === undefined ? {} : { updateTime: timestampFromMs(stored.updateTime) }),
    etag: stored?.etag ?? "",
  };
}

function assertValid(given: UserPreferences, changed: ReadonlySet<string>): void {
  // An empty value takes the default again.
  const { language, timeZone, theme, settings } = given;
  if (changed.has("language") && language !== "" && canonicalLanguage(language) === "") {
    throw new ServiceError("INVALID_ARGUMENT", "language is not a BCP 47 tag, such as en or zh-CN");
  }
  if (changed.has("time_zone") && timeZone !== "" && !isTimeZone(timeZone)) {
    throw new ServiceError(
      "INVALID_ARGUMENT",
      "time_zone is not the name of a time zone, such as Asia/Shanghai",
    );
  }
  if (changed.has("theme") && !ThemeSchema.values.some(({ number }) => number === theme)) {
    throw new ServiceError("INVALID_ARGUMENT", `theme ${theme} is not known`);
  }
  if (changed.has("settings") && settings !== undefined) {
    // protobuf-es has the field as the JSON object itself.
    const bytes = Buffer.byteLength(JSON.stringify(settings));
    if (bytes > LONGEST_SETTINGS_BYTES) {
      throw new ServiceError(
        "INVALID_ARGUMENT",
        `settings have ${bytes} bytes as JSON; at most ${LONGEST_SETTINGS_BYTES} are kept`,
      );
    }
  }
}

/** The usual spelling of a language tag; empty where the text is not one. */
function canonicalLanguage(language: string): string {
  if (language.length > LONGEST_LANGUAGE) return "";
  try {
    return Intl.getCanonicalLocales(language)[0] ?? "";
  } catch {
    return "";
  }
}

function isTimeZone(name: string): boolean {
  // Offsets such as "+08:00" are accepted by Intl, and are not names.
  if (!/^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/.test(name)) return false;
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

function changedMeanwhile(): ChangedMeanwhileError {
  return new ChangedMeanwhileError(
    "the preferences were changed meanwhile: read them again, and repeat the change",
  );
}
