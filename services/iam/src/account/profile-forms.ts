import { Theme } from "../../gen/svc/iam/v1/auth_pb.ts";
import { field, formToken, problemBox } from "../pages/form-parts.ts";
import { type Html, html } from "../pages/html.ts";
import { LANGUAGES } from "../pages/languages.ts";
import type { MessageKey, Texts } from "../pages/texts.ts";
import type { SectionBody } from "./account-section.ts";

/** What the forms of the profile show. */
export interface ProfileValues {
  readonly username: string;
  readonly email: string;
  readonly displayName: string;
  readonly avatarUrl: string;
  readonly etag: string;
  readonly language: string;
  readonly timeZone: string;
  readonly theme: Theme;
  /** Of `FormTokens`. */
  readonly token: string;
  /** Why the values were not accepted. */
  readonly problem?: MessageKey;
  /** The same for single values: the rest of a sentence. */
  readonly problems?: Readonly<Record<"displayName" | "avatarUrl", string | undefined>>;
}

const THEMES: readonly (readonly [Theme, MessageKey])[] = [
  [Theme.SYSTEM, "As the device"],
  [Theme.LIGHT, "Light"],
  [Theme.DARK, "Dark"],
];

/** The forms of the profile and of the preferences. */
export function profileForms(values: ProfileValues): SectionBody {
  return (texts) => {
    const { say, translate } = texts;
    const { problem, problems } = values;
    const wrongName =
      problems?.displayName &&
      say("The name {problem}.", { problem: translate(problems.displayName) });
    const wrongPicture =
      problems?.avatarUrl &&
      say("The address of the picture {problem}.", { problem: translate(problems.avatarUrl) });
    return html`${problemBox((problem && say(problem)) || wrongName || wrongPicture || undefined)}
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
  problem: wrongName || undefined,
})}
${field({
  name: "avatar_url",
  label: say("Address of a picture"),
  hint: say("It begins with https://, or is empty."),
  type: "url",
  longest: 2048,
  isOptional: true,
  value: values.avatarUrl,
  problem: wrongPicture || undefined,
})}
<button type="submit" name="action" value="profile">${say("Save the profile")}</button>
</form>
<h2>${say("Preferences")}</h2>
<form method="post">
${formToken(values.token)}
${select("language", say("Language"), languages(values.language), values.language)}
${select("time_zone", say("Time zone"), timeZones(values.timeZone), values.timeZone)}
${select("theme", say("Colors"), themes(texts), String(values.theme))}
<button type="submit" name="action" value="preferences">${say("Save the preferences")}</button>
</form>`;
  };
}

type Option = readonly [value: string, text: string | Html];

function select(name: string, label: Html, options: readonly Option[], chosen: string): Html {
  return html`<div class="field">
<label for="${name}">${label}</label>
<select id="${name}" name="${name}">
${options.map(([value, text]) => html`<option value="${value}"${value === chosen ? html` selected` : undefined}>${text}</option>`)}
</select>
</div>`;
}

/** Each by its own name. A language that only other frontends have remains. */
function languages(chosen: string): Option[] {
  return [...new Set<string>([...LANGUAGES, chosen])].map((tag) => [
    tag,
    new Intl.DisplayNames(tag, { type: "language" }).of(tag) ?? tag,
  ]);
}

function timeZones(chosen: string): Option[] {
  const names = new Set(["UTC", ...Intl.supportedValuesOf("timeZone"), chosen]);
  return [...names].map((name) => [name, name.replaceAll("_", " ")]);
}

function themes({ say }: Texts): Option[] {
  return THEMES.map(([theme, text]) => [String(theme), say(text)]);
}
