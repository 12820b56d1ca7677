import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  type ClientChange,
  ClientChangeKind,
  ClientChangeSchema,
  ClientCredential,
  ClientFlow,
  IAMProviderService,
  ProviderClientSchema,
} from "../../../gen/svc/iam/v1/provider_pb.ts";
import { IAMProviderServiceRoutes } from "../../../gen/svc/iam/v1/provider_server.ts";
import type { ClientConfig } from "../../config/iam-config.ts";
import { terminalConfirmationOf, withId } from "../run/confirm.ts";
import type { ConfirmFlags } from "../run/confirm-flag.ts";
import { printList, type Shown } from "../run/print-messages.ts";
import { EXIT, say } from "../run/run-command.ts";
import type { SystemFlags } from "./system-command.ts";
import { connectAsSystem } from "./system-connection.ts";

const FLOWS: Readonly<Record<ClientFlow, string>> = {
  [ClientFlow.UNSPECIFIED]: "",
  [ClientFlow.CODE]: "code",
  [ClientFlow.DEVICE]: "device",
  [ClientFlow.SERVICE_ACCOUNT]: "service_account",
};
const FLOW_OF: Readonly<Record<ClientConfig["flows"][number], ClientFlow>> = {
  code: ClientFlow.CODE,
  device: ClientFlow.DEVICE,
  service_account: ClientFlow.SERVICE_ACCOUNT,
};
const CREDENTIALS: Readonly<Record<ClientCredential, string>> = {
  [ClientCredential.UNSPECIFIED]: "",
  [ClientCredential.NONE]: "none",
  [ClientCredential.SECRET]: "secret",
  [ClientCredential.PUBLIC_KEYS]: "public keys",
};
const KINDS: Readonly<Record<ClientChangeKind, string>> = {
  [ClientChangeKind.UNSPECIFIED]: "",
  [ClientChangeKind.ADDED]: "added",
  [ClientChangeKind.CHANGED]: "changed",
  [ClientChangeKind.REMOVED]: "removed",
};

const CLIENTS: Shown<typeof ProviderClientSchema> = {
  schema: ProviderClientSchema,
  name: ["client", "clients"],
  columns: [
    ["ID", ({ id }) => id],
    ["FLOWS", ({ flows }) => flows.map((flow) => FLOWS[flow] ?? "").join(", ")],
    ["CREDENTIAL", ({ credential }) => CREDENTIALS[credential] ?? ""],
    ["NAME", ({ name }) => name],
  ],
};

const CHANGES: Shown<typeof ClientChangeSchema> = {
  schema: ClientChangeSchema,
  name: ["change", "changes"],
  columns: [
    ["CHANGE", ({ kind }) => KINDS[kind] ?? ""],
    ["ID", ({ clientId }) => clientId],
    ["NAME", ({ name }) => name],
    ["FIELDS", ({ fields }) => fields.join(", ")],
  ],
};

/** Lists the clients. @returns the exit code */
export async function listClients(file: string, { server, format }: SystemFlags): Promise<number> {
  await using connection = connectAsSystem(file, server).connection;
  const provider = connection.client(IAMProviderService, IAMProviderServiceRoutes);
  const { clients } = await provider.listClients({});
  await printList(CLIENTS, { items: clients, hasMore: false }, format);
  return EXIT.done;
}

/** Says what applying the clients of a configuration would change. @returns the exit code */
export async function planClients(file: string, { server, format }: SystemFlags): Promise<number> {
  const { connection: opened, configuration } = connectAsSystem(file, server);
  await using connection = opened;
  const provider = connection.client(IAMProviderService, IAMProviderServiceRoutes);
  const clients = configuration.sections.iam.clients.map(messageOf);
  const { changes } = await provider.planClients({ clients });
  await printChanges(changes, format);
  return changes.length === 0 ? EXIT.done : EXIT.no;
}

/** Makes the clients of a configuration those of the service. @returns the exit code */
export async function applyClients(
  file: string,
  { server, format, ...flags }: SystemFlags & ConfirmFlags,
): Promise<number> {
  const { connection: opened, configuration } = connectAsSystem(file, server);
  await using connection = opened;
  const provider = connection.client(IAMProviderService, IAMProviderServiceRoutes);
  const clients = configuration.sections.iam.clients.map(messageOf);
  const confirm = terminalConfirmationOf(flags);
  if (confirm !== undefined) {
    const plan = await provider.planClients({ clients });
    const removed = plan.changes.filter(({ kind }) => kind === ClientChangeKind.REMOVED);
    const names = removed.map(({ clientId, name }) => withId(name, clientId)).join(", ");
    if (removed.length > 0) await confirm(`remove clients and end what they were given: ${names}?`);
  }
  const { changes } = await provider.applyClients({ clients });
  await printChanges(changes, format);
  if (changes.length > 0) say("applied: other replicas follow within a minute");
  return EXIT.done;
}

function printChanges(
  items: readonly ClientChange[],
  format: SystemFlags["format"],
): Promise<void> {
  return printList(CHANGES, { items, hasMore: false }, format);
}

function messageOf(client: ClientConfig): MessageInitShape<typeof ProviderClientSchema> {
  return {
    id: client.id,
    name: client.name,
    flows: client.flows.map((flow) => FLOW_OF[flow]),
    redirectUris: client.redirect_uris,
    postLogoutRedirectUris: client.post_logout_redirect_uris,
    backchannelLogoutUri: client.backchannel_logout_uri ?? "",
    skipConsent: !client.ask_consent,
    audience: client.audience,
    clientSecret: client.client_secret ?? "",
    // JSON, as it was read.
    publicKeys: (client.public_keys ?? []) as never,
  };
}
