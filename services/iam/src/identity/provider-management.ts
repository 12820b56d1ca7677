import type { ClientConfig } from "../config/iam-config.ts";
import type { Rotation } from "../ground/store/provider-keys.ts";
import type { ClientDeclaration } from "../provider/embedded/client-declaration.ts";
import type { ClientDifference } from "../provider/embedded/client-differences.ts";

/** What the platform manages of the embedded provider while it runs. */
export interface ProviderManagement {
  /** The clients but the own one. */
  clients(): readonly ClientDeclaration[];
  /** What applying these clients would change. */
  plan(clients: readonly ClientDeclaration[]): Promise<readonly ClientDifference[]>;
  /** Makes these the clients of the provider. @throws StartUpError for an id that is taken */
  apply(clients: readonly ClientDeclaration[]): Promise<readonly ClientDifference[]>;
  /** Lets the next signing key sign. */
  rotateSigningKey(options: { readonly isUrgent: boolean }): Promise<Rotation>;
}

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
