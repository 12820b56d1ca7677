import { AUTHN_SOURCES } from "../../api/authn-mode.ts";
import type { Call } from "../call/call.ts";
import type { ServiceConfig } from "../configuration/service-config.ts";
import type { AuthenticatorDependencies } from "./create-authenticators.ts";

/**
 * Logs, at the level debug, why a call has no caller: what the mode of the service reads, and which
 * credentials of the call it ignores. The response does not contain it: it is the same in all modes.
 */
export function createMissingCallerLog(
  config: ServiceConfig,
  { logger, further = [] }: Pick<AuthenticatorDependencies, "logger" | "further">,
): (call: Call) => void {
  const { enabled, mode, internal_call: internal } = config.security.authn;
  const used = enabled ? mode : "disabled";
  const { headers, tokens } = AUTHN_SOURCES[used];
  const custom = used === "disabled" ? [] : further.map(({ name }) => name);
  const read = [
    ...(tokens ? ["a JWT in Authorization"] : []),
    ...(headers ? ["identity headers of trusted peers"] : []),
    ...(internal.enabled ? [`an internal token in ${internal.header}`] : []),
    ...custom,
  ];
  const what = `the service authenticates by ${read.join(" or ") || "nothing"} (security.authn.mode ${used})`;
  return (call) => {
    const isIgnored =
      !tokens && custom.length === 0 && call.headers.all("authorization").length > 0;
    const why = [
      what,
      ...(isIgnored ? ["the Authorization header is ignored"] : []),
      ...(headers && !call.peerIsTrusted ? ["the peer is not trusted"] : []),
    ];
    logger.debug({ rpc: call.rpc, request_id: call.requestId }, `no caller: ${why.join("; ")}`);
  };
}
