import type { MessageInitShape } from "@bufbuild/protobuf";
import { ServiceError } from "svc-access/runtime";
import {
  ClientChangeKind,
  type ClientChangeSchema,
  ClientCredential,
  ClientFlow,
  type ProviderClient,
  type ProviderClientSchema,
} from "../../../gen/svc/iam/v1/provider_pb.ts";
import { clientConfig } from "../../config/iam-config.ts";
import { declarationOf } from "../../identity/provider-management.ts";
import type {
  ClientDeclaration,
  ClientFlow as DeclaredFlow,
} from "../../provider/embedded/client-declaration.ts";
import type { ClientDifference } from "../../provider/embedded/client-differences.ts";

const FLOWS: Readonly<Record<DeclaredFlow, ClientFlow>> = {
  code: ClientFlow.CODE,
  device: ClientFlow.DEVICE,
  service_account: ClientFlow.SERVICE_ACCOUNT,
};
const FLOW_NAMES = new Map(Object.entries(FLOWS).map(([name, flow]) => [flow, name]));

const KINDS: Readonly<Record<ClientDifference["change"], ClientChangeKind>> = {
  added: ClientChangeKind.ADDED,
  changed: ClientChangeKind.CHANGED,
  removed: ClientChangeKind.REMOVED,
};

const FIELDS: Readonly<Record<keyof ClientDeclaration, string>> = {
  id: "id",
  name: "name",
  flows: "flows",
  secret: "client_secret",
  publicKeys: "public_keys",
  redirectUris: "redirect_uris",
  postLogoutRedirectUris: "post_logout_redirect_uris",
  backchannelLogoutUri: "backchannel_logout_uri",
  asksConsent: "skip_consent",
  audience: "audience",
};

/** A client as it is shown: without what it authenticates with. */
export function clientMessage(
  client: ClientDeclaration,
): MessageInitShape<typeof ProviderClientSchema> {
  const { id, name, flows, redirectUris, postLogoutRedirectUris } = client;
  return {
    id,
    name,
    flows: flows.map((flow) => FLOWS[flow]),
    redirectUris: [...redirectUris],
    postLogoutRedirectUris: [...postLogoutRedirectUris],
    backchannelLogoutUri: client.backchannelLogoutUri ?? "",
    skipConsent: !client.asksConsent,
    audience: [...(client.audience ?? [])],
    credential: credentialOf(client),
  };
}

/** A change as it is shown. */
export function changeMessage({
  id: clientId,
  name,
  change,
  fields,
}: ClientDifference): MessageInitShape<typeof ClientChangeSchema> {
  return { clientId, name, kind: KINDS[change], fields: fields.map((field) => FIELDS[field]) };
}

/** The declaration in a message. @throws ServiceError INVALID_ARGUMENT with all problems */
export function declarationIn(client: ProviderClient, index: number): ClientDeclaration {
  const { id, name, flows, redirectUris, postLogoutRedirectUris, publicKeys, audience } = client;
  const { backchannelLogoutUri, skipConsent, clientSecret } = client;
  const parsed = clientConfig.safeParse({
    id,
    name,
    flows: flows.map((flow) => FLOW_NAMES.get(flow) ?? "unspecified"),
    redirect_uris: redirectUris,
    post_logout_redirect_uris: postLogoutRedirectUris,
    ask_consent: !skipConsent,
    audience,
    ...(clientSecret === "" ? {} : { client_secret: clientSecret }),
    ...(publicKeys.length === 0 ? {} : { public_keys: publicKeys }),
    ...(backchannelLogoutUri === "" ? {} : { backchannel_logout_uri: backchannelLogoutUri }),
  });
  if (parsed.success) return declarationOf(parsed.data);
  const problems = parsed.error.issues.map(
    ({ path, message }) => `${[`clients[${index}]`, ...path].join(".")} ${message}`,
  );
  throw new ServiceError("INVALID_ARGUMENT", problems.join("; "));
}

function credentialOf({ secret, publicKeys }: ClientDeclaration): ClientCredential {
  if (secret !== undefined) return ClientCredential.SECRET;
  return publicKeys === undefined ? ClientCredential.NONE : ClientCredential.PUBLIC_KEYS;
}
