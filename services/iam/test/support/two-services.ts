import { randomBytes, randomUUID } from "node:crypto";
import { freePort } from "../../../../test/support/free-port.ts";
import { addUser, startSelf } from "./browser-login.ts";
import { type IamService, startIam } from "./iam-service.ts";

/** A service that logs browsers in by itself, and the svc-iam at which its people log in. */
export interface TwoServices {
  readonly provider: IamService;
  readonly service: IamService;
  stop(): Promise<void>;
}

/** Starts both, with the user alice. */
export async function startTwoServices(): Promise<TwoServices> {
  const client = { id: randomUUID(), secret: randomBytes(32).toString("base64url") };
  const port = await freePort();
  const origin = `http://localhost:${port}`;
  const provider = await startIam({
    iam: {
      clients: [
        {
          id: client.id,
          name: "The service",
          flows: ["code"],
          client_secret: client.secret,
          redirect_uris: [`${origin}/v1/iam/oauth2/callback`],
          post_logout_redirect_uris: [`${origin}/v1/iam/logout`],
          ask_consent: false,
        },
      ],
    },
  });
  await addUser(provider, "alice");
  const service = await startSelf({
    port,
    authn: { provider: "oidc" },
    oidc: { issuer: `${provider.origin}/v1/iam/oidc`, audience: [client.id] },
    login: { client_id: client.id, client_secret: client.secret },
  });
  return {
    provider,
    service,
    async stop() {
      await service.stop();
      await provider.stop();
    },
  };
}
