import type { ClientMetadata } from "oidc-provider";
import type { ClientDeclaration, ClientFlow } from "./client-declaration.ts";
import { ALGORITHM } from "./keys/signing-keys.ts";
import { RESPONSE_MODE, RESPONSE_TYPE } from "./response-forms.ts";
import { SCOPES } from "./tokens/scopes.ts";

const GRANT_TYPES: Readonly<Record<ClientFlow, readonly string[]>> = {
  code: ["authorization_code", "refresh_token"],
  device: ["urn:ietf:params:oauth:grant-type:device_code", "refresh_token"],
  service_account: ["client_credentials"],
};

/** The metadata of a client (RFC 7591) for `oidc-provider`. */
export function clientMetadata(client: ClientDeclaration): ClientMetadata {
  const hasCode = client.flows.includes("code");
  return {
    client_id: client.id,
    client_name: client.name,
    // `native` would accept other ports of loopback addresses.
    application_type: "web",
    grant_types: [...new Set(client.flows.flatMap((flow) => GRANT_TYPES[flow]))],
    response_types: hasCode ? [RESPONSE_TYPE] : [],
    response_modes: [RESPONSE_MODE],
    redirect_uris: hasCode ? [...client.redirectUris] : [],
    post_logout_redirect_uris: [...client.postLogoutRedirectUris],
    id_token_signed_response_alg: ALGORITHM,
    scope: SCOPES.join(" "),
    ...authentication(client),
    ...(client.backchannelLogoutUri === undefined
      ? {}
      : { backchannel_logout_uri: client.backchannelLogoutUri }),
    backchannel_logout_session_required: client.backchannelLogoutUri !== undefined,
  } as ClientMetadata;
}

function authentication({ secret, publicKeys }: ClientDeclaration): Partial<ClientMetadata> {
  if (publicKeys !== undefined) {
    return {
      token_endpoint_auth_method: "private_key_jwt",
      jwks: { keys: publicKeys.map((key) => ({ ...key })) as never },
    };
  }
  if (secret !== undefined) {
    return { token_endpoint_auth_method: "client_secret_basic", client_secret: secret };
  }
  return { token_endpoint_auth_method: "none" };
}
