import type { CallContext } from "svc-access/runtime";
import type { LoginSession } from "../../sessions/login-session.ts";
import type { UserSessions } from "../../sessions/user-sessions.ts";
import { clientsOf } from "./embedded-options.ts";
import type { EmbeddedProvider } from "./embedded-provider.ts";

/** The logins at the embedded provider. What it records belongs to the call that ends them. */
export class EmbeddedSessions implements UserSessions {
  readonly #provider: EmbeddedProvider;

  constructor(provider: EmbeddedProvider) {
    this.#provider = provider;
  }

  list(accountId: string): Promise<readonly LoginSession[]> {
    return this.#provider.sessions.list(accountId);
  }

  end(id: string, accountId: string, call: CallContext): Promise<boolean> {
    return this.#provider.within({ call }, () => this.#provider.endSession(id, accountId));
  }

  endAll(accountId: string, call: CallContext, except?: string): Promise<number> {
    return this.#provider.within({ call }, () => this.#provider.endSessions(accountId, except));
  }

  endWith(
    accountId: string,
    change: Parameters<UserSessions["endWith"]>[1],
    call: CallContext,
    except?: LoginSession,
  ): Promise<number | undefined> {
    return this.#provider.within({ call }, async () => {
      const ended = await this.#provider.sessions.endWith(accountId, change, except);
      return ended && this.#provider.sessionsEnded(accountId, ended);
    });
  }

  clientName(clientId: string): string {
    return clientsOf(this.#provider.options).find(({ id }) => id === clientId)?.name ?? "";
  }
}
