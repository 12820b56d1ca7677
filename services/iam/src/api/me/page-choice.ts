import { Theme, type UserPreferences } from "../../../gen/svc/iam/v1/auth_pb.ts";
import { languageOf } from "../../pages/languages.ts";
import type { PageChoice, PageChoices, PagePerson } from "../../pages/page-choices.ts";
import { subjectOf } from "./current-user.ts";
import type { CurrentPreferences } from "./user-preferences.ts";

const THEMES: Readonly<Record<number, PageChoice["theme"]>> = {
  [Theme.LIGHT]: "light",
  [Theme.DARK]: "dark",
};

/** What preferences mean for pages, which do not have each language. */
export function pageChoiceOf({
  language,
  theme,
}: Pick<UserPreferences, "language" | "theme">): PageChoice {
  return { language: languageOf([language]), theme: THEMES[theme] };
}

/**
 * What people have chosen for pages, in their preferences.
 *
 * @param organization `iam.organization`
 */
export function storedPageChoices(
  preferences: Pick<CurrentPreferences, "chosenBy">,
  organization: string,
): PageChoices {
  return {
    async find(person: PagePerson) {
      return pageChoiceOf(await preferences.chosenBy(subjectOf(person, organization)));
    },
  };
}
