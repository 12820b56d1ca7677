import { Theme } from "../../gen/svc/iam/v1/auth_pb.ts";
import {
  type FieldProblem,
  field,
  formToken,
  problemBox,
  problemList,
} from "../pages/form-parts.ts";
import { type Html, html } from "../pages/html.ts";
import { LANGUAGES } from "../pages/languages.ts";
import type { MessageKey, Texts } from "../pages/texts.ts";
import type { SectionBody } from "./account-section.ts";
import { timeZones } from "./time-zones.ts";

/** What the forms of the profile show. */
export interface ProfileValues {
  readonly username: string;
  readonly email: string;
  readonly displayName: string;
  readonly avatarUrl: string;
  readonly etag: string;
  /** Empty: as the browser asks for. */
  readonly language: string;
  readonly timeZone: string;
  readonly theme: Theme;
  /** Of `FormTokens`. */
  readonly token: string;
  /** Why the values were not accepted. */
  readonly problem?: MessageKey;
  /** The same for single values. */
  readonly problems?: ProfileProblems;
}

/** Why single values were not accepted. */
export interface ProfileProblems {
  /** The rest of a sentence. */
  readonly displayName?: string | undefined;
  /** Likewise. */
  readonly avatarUrl?: string | undefined;
  /** Whether the value is none that can be chosen. */
  readonly language?: boolean;
  readonly timeZone?: boolean;
  readonly theme?: boolean;
}

const THEMES: readonly (readonly [Theme, MessageKey])[] = [
  [Theme.SYSTEM, "As the device"],
  [Theme.LIGHT, "Light"],
  [Theme.DARK, "Dark"],
];

/** The forms of the profile and of the preferences. */
export function profileForms(values: ProfileValues): SectionBody {
  return (texts) => {
    const { say } = texts;
    const { problem, problems = {} } = values;
    const found = fieldProblems(texts, problems);
    const problemOf = (name: string) => found.find((one) => one.name === name)?.problem;
    return html`${problem ? problemBox(say(problem)) : problemList(found)}
<h2>${say("Profile")}</h2>
<form method="post">
${formToken(values.token)}
<input type="hidden" name="etag" value="${values.etag}">
${field({
  name: "username",
  label: say("User name"),
  autocomplete: "username",
  value: values.username,
  hint: say("An administrator can change the user name and the e-mail address."),
  isReadOnly: true,
})}
${field({ name: "email", label: say("E-mail address"), value: values.email, isReadOnly: true })}
${field({
  name: "display_name",
  label: say("Name"),
  autocomplete: "name",
  longest: 128,
  value: values.displayName,
  problem: problemOf("display_name"),
})}
${field({
  name: "avatar_url",
  label: say("Address of a picture"),
  hint: say("It begins with https://, or is empty."),
  type: "url",
  longest: 2048,
  isOptional: true,
  value: values.avatarUrl,
  problem: problemOf("avatar_url"),
})}
<button type="submit" name="action" value="profile">${say("Save the profile")}</button>
</form>
<h2>${say("Preferences")}</h2>
<form method="post">
${formToken(values.token)}
${select({
  name: "language",
  label: say("Language"),
  options: [["", say("As the browser")], ...languages(values.language)],
  chosen: values.language,
  problem: problemOf("language"),
})}
${select({
  name: "time_zone",
  label: say("Time zone"),
  options: timeZones(values.timeZone).map((name) => [name, name.replaceAll("_", " ")]),
  chosen: values.timeZone,
  problem: problemOf("time_zone"),
})}
${select({
  name: "theme",
  label: say("Colors"),
  options: THEMES.map(([theme, text]) => [String(theme), say(text)]),
  chosen: String(values.theme),
  problem: problemOf("theme"),
})}
<button type="submit" name="action" value="preferences">${say("Save the preferences")}</button>
</form>`;
  };
}

/** In the order of the fields. */
function fieldProblems(
  { say, translate }: Texts,
  { displayName, avatarUrl, language, timeZone, theme }: ProfileProblems,
): readonly FieldProblem[] {
  const found: FieldProblem[] = [];
  if (displayName !== undefined) {
    const problem = say("The name {problem}.", { problem: translate(displayName) });
    found.push({ name: "display_name", problem });
  }
  if (avatarUrl !== undefined) {
    const problem = say("The address of the picture {problem}.", { problem: translate(avatarUrl) });
    found.push({ name: "avatar_url", problem });
  }
  const choices: readonly (readonly [string, MessageKey, boolean | undefined])[] = [
    ["language", "Language", language],
    ["time_zone", "Time zone", timeZone],
    ["theme", "Colors", theme],
  ];
  for (const [name, label, isWrong] of choices) {
    if (isWrong !== true) continue;
    const problem = say("{name}: choose one of the values.", { name: say(label) });
    found.push({ name, problem });
  }
  return found;
}

/**
 * Which preferences cannot be chosen in the form. Empty ones stay as they are.
 *
 * @param stored those of the person, which remain a choice whoever has set them
 */
export function preferenceProblems(
  { language, timeZone, theme }: ChosenPreferences,
  stored: ChosenPreferences,
): Pick<ProfileProblems, "language" | "timeZone" | "theme"> {
  return {
    language: language !== "" && languages(stored.language).every(([tag]) => tag !== language),
    timeZone: timeZone !== "" && !timeZones(stored.timeZone).includes(timeZone),
    theme: THEMES.every(([one]) => one !== theme),
  };
}

type ChosenPreferences = Pick<ProfileValues, "language" | "timeZone" | "theme">;
type Option = readonly [value: string, text: string | Html];

function select(given: {
  readonly name: string;
  readonly label: Html;
  readonly options: readonly Option[];
  readonly chosen: string;
  readonly problem: Html | undefined;
}): Html {
  const { name, label, options, chosen, problem } = given;
  return html`<div class="field">
<label for="${name}">${label}</label>
${problem && html`<p class="wrong" id="${name}-problem">${problem}</p>`}
<select id="${name}" name="${name}"${problem && html` aria-describedby="${name}-problem" aria-invalid="true"`}>
${options.map(([value, text]) => html`<option value="${value}"${value === chosen ? html` selected` : undefined}>${text}</option>`)}
</select>
</div>`;
}

/** Each by its own name. A language that only other frontends have remains. */
function languages(chosen: string): Option[] {
  const tags = new Set<string>([...LANGUAGES, chosen].filter((tag) => tag !== ""));
  return [...tags].map((tag) => [
    tag,
    new Intl.DisplayNames(tag, { type: "language" }).of(tag) ?? tag,
  ]);
}
