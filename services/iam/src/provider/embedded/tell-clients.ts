import type { Provider } from "oidc-provider";
import type { LoginSession } from "../../sessions/login-session.ts";
import type { ProviderLog } from "./embedded-options.ts";

/** A client of `oidc-provider`; its types omit the method. */
interface BackchannelClient {
  backchannelLogout(this: unknown, accountId: string, sid: string): Promise<void>;
}

/** How many clients are notified at once. */
const AT_ONCE = 16;

/** Notifies those clients of ended sessions that want to know of it. */
export async function tellClients(
  provider: Provider,
  sessions: readonly LoginSession[],
  log: ProviderLog,
): Promise<void> {
  const left = sessions
    .flatMap(({ accountId, clients }) => clients.map((client) => ({ ...client, accountId })))
    .values();
  const tell = async (): Promise<void> => {
    for (const { clientId, sid, accountId } of left) {
      try {
        const client = await provider.Client.find(clientId);
        if (client?.backchannelLogoutUri === undefined) continue;
        const { backchannelLogout } = client as unknown as BackchannelClient;
        await backchannelLogout.call(client, accountId, sid);
      } catch (error) {
        log.warn({ err: error, client: clientId }, "a client was not notified of a logout");
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, tell));
}
