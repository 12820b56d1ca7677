import type { CallContext } from "svc-access/runtime";
import { QueueFullError } from "../../ground/queue/work-queue.ts";
import type { PasswordLogin } from "./password-login.ts";

/** A form with a new password, by a link that was used, or beside a password that is no longer the current one. */
export interface RepeatedForm {
  /** Whose password it has set. */
  readonly accountId: string;
  readonly username: string;
  readonly password: string;
}

/** What such a form is. */
export type Repetition =
  /** The one that has set the password, or one with the same content. */
  | { readonly outcome: "same" }
  | { readonly outcome: "other" }
  | { readonly outcome: "slowed"; readonly retryAfterMs: number };

/**
 * Whether a form is the one that has set the password, such as after a double click: its password is then that
 * of the account. It is checked and counted as in a login, so that nobody learns more here than there.
 *
 * @throws QueueFullError where too many passwords are checked
 */
export async function repetitionOf(
  { accountId, username, password }: RepeatedForm,
  logins: Pick<PasswordLogin, "authenticate">,
  { clientAddress: address, signal, deadline }: CallContext,
): Promise<Repetition> {
  const result = await logins.authenticate({ username, password, address, signal, deadline });
  switch (result.outcome) {
    case "ok":
      return { outcome: result.account.id === accountId ? "same" : "other" };
    case "wrong":
      return { outcome: "other" };
    case "slowed":
      return result;
    case "busy":
      throw new QueueFullError();
  }
}
