import type { Principal } from "svc-access/runtime";
import type { Language } from "./languages.ts";
import type { PageTheme } from "./page-view.ts";

/** Somebody who may have chosen how pages look. */
export type PagePerson = Pick<Principal, "subjectType" | "subjectId" | "organizationId">;

/** A local user; undefined without one. */
export function personOf(accountId: string | undefined): PagePerson | undefined {
  if (accountId === undefined) return undefined;
  return { subjectType: "user", subjectId: accountId, organizationId: "" };
}

/** How somebody wants pages to look. */
export interface PageChoice {
  /** That of the browser if absent. */
  readonly language?: Language | undefined;
  /** That of the device if absent. */
  readonly theme?: PageTheme | undefined;
}

/** What people have chosen in their accounts. */
export interface PageChoices {
  find(person: PagePerson): Promise<PageChoice>;
}

/** Says who a page is for; undefined of somebody who is not logged in. */
export type FindPerson = () => PagePerson | undefined | Promise<PagePerson | undefined>;

/** A page is shown as the browser wants it where an answer takes longer. */
const LONGEST_MS = 5000;

/** What the person of a page has chosen: nothing where that cannot be found out, since a page must not fail with it. */
export async function choiceOf(choices: PageChoices, find: FindPerson): Promise<PageChoice> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<PageChoice>((resolve) => {
    timer = setTimeout(resolve, LONGEST_MS, {});
  });
  try {
    return await Promise.race([found(choices, find), late]);
  } catch {
    // Why the database does not answer is for what needs it to say.
    return {};
  } finally {
    clearTimeout(timer);
  }
}

async function found(choices: PageChoices, find: FindPerson): Promise<PageChoice> {
  const person = await find();
  return person === undefined ? {} : choices.find(person);
}
