import { isIP } from "node:net";
import type { Call } from "../call/call.ts";
import { single } from "../call/call-headers.ts";
import type { CredentialKind } from "../call/credential-kinds.ts";
import type { ServiceConfig } from "../configuration/service-config.ts";
import { ServiceError } from "../error/service-error.ts";
import { LOOPBACK, PeerTrust } from "../peer/peer-trust.ts";

/** What a page needs no secret for: headers that this machine may send, and tokens of examples. */
const GUARDED: ReadonlySet<CredentialKind> = new Set(["gateway", "internal", "system"]);

/**
 * In development, this machine counts as the gateway, and with it each page in its browsers whose own name was
 * rebound to a loopback address (DNS rebinding): for the browser, the service is then of the page's site. Such requests
 * name the page's host; ours name this machine. Returns the check of an identified call.
 *
 * @returns undefined where peers are named in the configuration: what they send as `Host` is theirs
 */
export function rebindingGuard(config: ServiceConfig): ((call: Call) => void) | undefined {
  const { environment, security } = config;
  if (environment !== "development" || security.authn.gateway.trusted_peers.length > 0) {
    return undefined;
  }
  const { trust } = PeerTrust.read(LOOPBACK);
  return (call) => {
    if (!GUARDED.has(call.credential) || !trust.trusts(call.peer)) return;
    const host = single(call.headers, "host") ?? single(call.headers, ":authority");
    if (host === undefined || namesNoSite(host)) return;
    throw new ServiceError(
      "FORBIDDEN",
      "in development, callers on this machine must call localhost or an IP address: name a gateway with other hosts in security.authn.gateway.trusted_peers",
    );
  };
}

/** Whether the host of a request is an address or a name that nobody has on the Internet: pages are not there. */
function namesNoSite(host: string): boolean {
  const name = host.replace(/:\d*$/, "").toLowerCase();
  if (name.startsWith("[") || isIP(name) !== 0) return true;
  return !name.includes(".") || name.endsWith(".localhost");
}
