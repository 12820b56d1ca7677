import type { Provider } from "oidc-provider";
import type { LoginSession } from "../../sessions/login-session.ts";
import type { ProviderLog } from "./embedded-options.ts";

/** A client of `oidc-provider`; its types omit the method. */
interface BackchannelClient {
  backchannelLogout(this: unknown, accountId: string, sid: string): Promise<void>;
}

/** Tells the clients of a session that want to know of it that it has ended. */
export async function tellClients(
  provider: Provider,
  { accountId, clients }: LoginSession,
  log: ProviderLog,
): Promise<void> {
  const telling = clients.map(async ({ clientId, sid }) => {
    try {
      const client = await provider.Client.find(clientId);
      if (client?.backchannelLogoutUri === undefined) return;
      const { backchannelLogout } = client as unknown as BackchannelClient;
      await backchannelLogout.call(client, accountId, sid);
    } catch (error) {
      log.warn({ err: error, client: clientId }, "a client was not told of a logout");
    }
  });
  await Promise.all(telling);
}
