import type { CallContext, ServiceError } from "svc-access/runtime";
import type { Html } from "../pages/html.ts";
import type { MessageKey, Texts } from "../pages/texts.ts";
import type { LocalAccount } from "../people/accounts/account-row.ts";
import type { Visitor } from "../people/sessions/visitors.ts";

/** Somebody who looks at a section of the own account. */
export interface AccountVisit {
  readonly visitor: Visitor;
  readonly account: LocalAccount;
  readonly call: CallContext;
  /** Of the preferences: an IANA name. */
  readonly timeZone: string;
  /** The token of the forms of the section. */
  readonly token: string;
  /** The visitor has added a second factor: see `Visitors`. */
  addedFactor(methods: readonly string[]): Promise<void>;
}

/** What a section shows below its title. */
export type SectionBody = (texts: Texts) => Html;

/** The forms of a section. */
export interface SectionForms {
  readonly body: SectionBody;
  readonly script?: string;
}

/** What a form has led to. */
export type SectionResult =
  /** It was done: the section is shown with a message. */
  | { readonly done: string }
  /** The login has ended meanwhile: the login page follows. */
  | { readonly isLoggedOut: true }
  /** A page with what must be corrected, or a step that follows. */
  | {
      readonly status: number;
      /** That of the section if absent. */
      readonly title?: MessageKey;
      readonly body: SectionBody;
      readonly retryAfterSeconds?: number;
      readonly script?: string;
      /** Of a failure of the service, for the log. */
      readonly cause?: ServiceError;
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
  show(visit: AccountVisit): Promise<SectionForms>;
  /**
   * Shows the forms with why the one that was sent is not done, and with what was typed into it, except passwords,
   * secrets and codes. It has no valid token: somebody else may have written it.
   */
  showAgain(visit: AccountVisit, form: URLSearchParams, problem: MessageKey): Promise<SectionForms>;
  /** Does what a form asks for, which has the token of the section. */
  act(visit: AccountVisit, form: URLSearchParams): Promise<SectionResult>;
}
