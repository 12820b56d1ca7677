import type { Html } from "./html.ts";
import type { Texts } from "./texts.ts";

/** What a page shows. */
export interface PageContent {
  readonly title: Html;
  readonly body: Html;
  /** Where its forms may lead after their redirects, besides this origin. */
  readonly leadsTo?: string | undefined;
  /** Whether it is shown because something was not accepted. */
  readonly isProblem?: boolean;
  /** Links to related pages. */
  readonly navigation?: Html;
  /** The path of its only script; without one, no script runs. */
  readonly script?: string;
}

/** A page for people, in whichever language. */
export type Page = (texts: Texts) => PageContent;
