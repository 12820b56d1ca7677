import type { Provider } from "oidc-provider";
import type { LoginSession } from "../../people/sessions/login-session.ts";
import type { LogoutNotices } from "./logout-notices.ts";

/** A client of `oidc-provider`; its types omit the method. */
interface BackchannelClient {
  readonly clientId: string;
  backchannelLogout(this: BackchannelClient, accountId: string, sid: string): Promise<void>;
}

/** Lets nothing wait for the clients that are notified, such as the logout of `oidc-provider` itself. */
export function notifyLater(provider: Provider, notices: LogoutNotices): void {
  const { prototype } = provider.Client as unknown as { prototype: BackchannelClient };
  const send = prototype.backchannelLogout;
  prototype.backchannelLogout = async function (accountId, sid) {
    notices.add(this.clientId, () => send.call(this, accountId, sid));
  };
}

/** Where the provider of the moment is. */
interface CurrentProvider {
  current(): Promise<{ readonly provider: Provider }>;
}

/** Notifies those clients of ended sessions that want to know of it, later. It never fails: the sessions have ended. */
export async function notifyClients(
  from: CurrentProvider,
  sessions: readonly LoginSession[],
  notices: LogoutNotices,
): Promise<void> {
  for (const { accountId, clients } of sessions) {
    for (const { clientId, sid } of clients) {
      try {
        const { provider } = await from.current();
        const client = await provider.Client.find(clientId);
        if (client?.backchannelLogoutUri === undefined) continue;
        await (client as unknown as BackchannelClient).backchannelLogout(accountId, sid);
      } catch (error) {
        notices.failed(clientId, error);
      }
    }
  }
}
