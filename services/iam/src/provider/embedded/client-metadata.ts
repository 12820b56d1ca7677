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
    // `native` accepts any port of loopback addresses, and asks for consent each time.
    application_type: isNative(client) ? "native" : "web",
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

/**
 * Whether it is an application on the machine of the person, which listens at whichever port is free (RFC 8252, 7.3). It
 * says so by redirect URIs without a port, where no application listens, and has no secret, which it could not keep.
 */
function isNative(client: ClientDeclaration): boolean {
  const { redirectUris, postLogoutRedirectUris, secret, publicKeys } = client;
  return (
    redirectUris.length > 0 &&
    [...redirectUris, ...postLogoutRedirectUris].every(isLoopbackWithoutPort) &&
    secret === undefined &&
    publicKeys === undefined
  );
}

/** As `oidc-provider` compares them without their ports. */
const LOOPBACK_HOSTS: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"]);

function isLoopbackWithoutPort(uri: string): boolean {
  const { protocol, host } = new URL(uri);
  return protocol === "http:" && LOOPBACK_HOSTS.has(host);
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
