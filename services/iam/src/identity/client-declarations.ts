import type { ClientConfig } from "../config/iam-config.ts";
import type { ClientDeclaration } from "../provider/embedded/client-declaration.ts";

/** A client of the configuration as the provider has it. */
export function declarationOf(client: ClientConfig): ClientDeclaration {
  const { client_secret: secret, public_keys: publicKeys } = client;
  const { backchannel_logout_uri: backchannelLogoutUri } = client;
  const [audience, ...audiences] = client.audience;
  return {
    id: client.id,
    name: client.name,
    flows: client.flows,
    redirectUris: client.redirect_uris,
    postLogoutRedirectUris: client.post_logout_redirect_uris,
    asksConsent: client.ask_consent,
    ...(secret === undefined ? {} : { secret }),
    ...(publicKeys === undefined ? {} : { publicKeys }),
    ...(backchannelLogoutUri === undefined ? {} : { backchannelLogoutUri }),
    ...(audience === undefined ? {} : { audience: [audience, ...audiences] }),
  };
}
