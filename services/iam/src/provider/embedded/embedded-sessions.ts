import type { CallContext } from "svc-access/runtime";
import type { LoginSession } from "../../people/sessions/login-session.ts";
import type { EndedWithChange, UserSessions } from "../../people/sessions/user-sessions.ts";
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

  async endWith(
    accountId: string,
    change: Parameters<UserSessions["endWith"]>[1],
    call: CallContext,
    except?: LoginSession,
  ): Promise<EndedWithChange | undefined> {
    const provider = this.#provider;
    const first = await provider.within({ call }, () =>
      provider.sessions.endWith(accountId, change, except),
    );
    if (first === undefined) return undefined;
    const finish = async () => {
      let { ended } = first;
      try {
        ended = await first.finish();
      } finally {
        await provider.sessionsEnded(accountId, ended);
      }
      return ended;
    };
    return { ended: first.ended, finish: () => provider.within({ call }, finish) };
  }

  clientName(clientId: string): string {
    return clientsOf(this.#provider.options).find(({ id }) => id === clientId)?.name ?? "";
  }
}
