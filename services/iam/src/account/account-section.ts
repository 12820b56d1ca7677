import type { CallContext } from "svc-access/runtime";
import type { LocalAccount } from "../accounts/account-row.ts";
import type { Html } from "../pages/html.ts";
import type { MessageKey, Texts } from "../pages/texts.ts";
import type { Visitor } from "../sessions/visitors.ts";

/** Somebody who looks at a section of the own account. */
export interface AccountVisit {
  readonly visitor: Visitor;
  readonly account: LocalAccount;
  readonly call: CallContext;
  /** Of the preferences: an IANA name. */
  readonly timeZone: string;
  /** The token of the forms of the section. */
  readonly token: string;
}

/** What a section shows below its title. */
export type SectionBody = (texts: Texts) => Html;

/** What a form has led to. */
export type SectionResult =
  /** It was done: the section is shown with a message. */
  | { readonly done: string }
  /** A page with what must be corrected, or a step that follows. */
  | {
      readonly status: number;
      readonly body: SectionBody;
      readonly retryAfterSeconds?: number;
      readonly script?: string;
    };

/** A part of the pages of the own account. */
export interface AccountSection {
  /** The end of its path, and what its messages are called; empty for the first one. */
  readonly name: string;
  readonly title: MessageKey;
  /** What was done, by the names of results. */
  readonly messages: Readonly<Record<string, MessageKey>>;
  /** Whether its forms need a login of the last minutes. */
  readonly needsFreshLogin?: boolean;
  show(visit: AccountVisit): Promise<{ readonly body: SectionBody; readonly script?: string }>;
  /** Does what a form asks for, which has the token of the section. */
  act(visit: AccountVisit, form: URLSearchParams): Promise<SectionResult>;
}
