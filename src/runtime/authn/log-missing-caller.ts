import { AUTHN_SOURCES } from "../../api/authn-mode.ts";
import type { Call } from "../call/call.ts";
import { CREDENTIAL_KINDS, credentialTraits } from "../call/credential-kinds.ts";
import type { ServiceConfig } from "../configuration/service-config.ts";
import type { AuthenticatorDependencies } from "./create-authenticators.ts";

/**
 * Logs, at the level debug, why a call has no caller: what the mode of the service reads, and which
 * credentials of the call it ignores. The response does not contain it: it is the same in all modes.
 */
export function createMissingCallerLog(
  config: ServiceConfig,
  { logger, authenticators = [] }: Pick<AuthenticatorDependencies, "logger" | "authenticators">,
): (call: Call) => void {
  const { enabled, mode, internal_call: internal } = config.security.authn;
  const used = enabled ? mode : "disabled";
  const sources = AUTHN_SOURCES[used];
  const kinds = CREDENTIAL_KINDS.flatMap((kind) => credentialTraits(kind).mode ?? []);
  const custom = used === "disabled" ? [] : authenticators.map(({ name }) => name);
  const read = [
    ...kinds.flatMap(({ source, what }) => (sources[source] ? [what] : [])),
    ...(internal.enabled ? [`an internal token in ${internal.header}`] : []),
    ...custom,
  ];
  const what = `the service authenticates by ${read.join(" or ") || "nothing"} (security.authn.mode ${used})`;
  // Custom authenticators may read any header.
  const unread = custom.length > 0 ? [] : kinds.filter(({ source }) => !sources[source]);
  const ignored = unread.flatMap(({ header }) => header ?? []);
  return (call) => {
    const sent = ignored.filter((name) => call.headers.all(name.toLowerCase()).length > 0);
    const why = [
      what,
      ...sent.map((name) => `the ${name} header is ignored`),
      ...(sources.headers && !call.peerIsTrusted ? ["the peer is not trusted"] : []),
    ];
    logger.debug({ rpc: call.rpc, request_id: call.requestId }, `no caller: ${why.join("; ")}`);
  };
}
