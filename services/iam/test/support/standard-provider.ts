import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import Provider from "oidc-provider";

/** The client that the standard provider knows. */
export const CLIENT = { id: "0b0c1f0e-5a53-4f6e-9d0e-6f1d5a3b8c11", secret: "the client's secret" };
export const REDIRECT_URI = "https://console.example.com/callback";

/** A provider as `oidc-provider` is without our options; whoever comes is logged in as alice. */
export interface StandardProvider {
  readonly issuer: string;
  /** Opens a login URL as a browser, and returns where it ends: the redirect URI with its query. */
  logIn(loginUrl: string): Promise<URL>;
  close(): Promise<void>;
}

export async function startStandardProvider(): Promise<StandardProvider> {
  const server = createServer((request, response) => handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = new Provider(origin, {
    clients: [
      {
        client_id: CLIENT.id,
        client_secret: CLIENT.secret,
        redirect_uris: [REDIRECT_URI],
        grant_types: ["authorization_code", "refresh_token"],
      },
    ],
    scopes: ["openid", "profile", "email", "offline_access"],
    issueRefreshToken: async () => true,
    features: {
      revocation: { enabled: true, allowedPolicy: async () => true },
      devInteractions: { enabled: false },
    },
    ttl: {
      AccessToken: 300,
      Grant: 300,
      IdToken: 300,
      Interaction: 300,
      RefreshToken: 300,
      Session: 300,
    },
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    // Consent of everything that is asked for.
    async loadExistingGrant({ oidc }) {
      const grant = new oidc.provider.Grant({
        clientId: oidc.client?.clientId ?? "",
        accountId: oidc.session?.accountId ?? "",
      });
      grant.addOIDCScope("openid profile email offline_access");
      await grant.save();
      return grant;
    },
    findAccount: (_, accountId) => ({ accountId, claims: async () => ({ sub: accountId }) }),
    cookies: { keys: ["a key of the test"] },
  });
  const callback = provider.callback();
  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    if (request.url?.startsWith("/interaction/") !== true) return void callback(request, response);
    void provider.interactionFinished(request, response, { login: { accountId: "alice" } });
  };
  return {
    issuer: origin,
    async logIn(loginUrl) {
      const cookies = new Map<string, string>();
      let url = new URL(loginUrl);
      for (let step = 0; step < 10; step++) {
        if (url.origin !== origin) return url;
        const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
        const response = await fetch(url, { redirect: "manual", headers: { cookie } });
        for (const line of response.headers.getSetCookie()) {
          const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
          cookies.set(name, value);
        }
        const location = response.headers.get("location");
        if (location === null)
          throw new Error(`${url}: ${response.status} ${await response.text()}`);
        url = new URL(location, url);
      }
      throw new Error("the provider redirects without end");
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
