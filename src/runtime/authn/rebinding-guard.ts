import { isIP } from "node:net";
import { networkInterfaces } from "node:os";
import type { Call } from "../call/call.ts";
import type { CredentialKind } from "../call/credential-kinds.ts";
import type { ServiceConfig } from "../configuration/service-config.ts";
import { ServiceError } from "../error/service-error.ts";
import type { Peer } from "../peer/peer.ts";
import { LOOPBACK, PeerTrust } from "../peer/peer-trust.ts";

/** Whose tokens everybody knows in development, from the examples. A gateway on this machine never sends one. */
const GUARDED: ReadonlySet<CredentialKind> = new Set(["internal", "system"]);

/**
 * In development, a page whose own name was rebound to an address of this machine (DNS rebinding) is of the service's
 * site for the browser, and may send the tokens of examples: by them it would learn the ids of users, whose identity
 * headers this machine may send. Such requests name the page's host; ours name this machine. Returns the check of an
 * identified call.
 *
 * @param addresses those of this machine beside the loopback ones: a connection to one of them comes from it
 * @returns undefined where peers are named in the configuration: what they send as `Host` is theirs
 */
export function rebindingGuard(
  config: ServiceConfig,
  addresses: () => readonly string[] = ownAddresses,
): ((call: Call) => void) | undefined {
  const { environment, security } = config;
  if (environment !== "development" || security.authn.gateway.trusted_peers.length > 0) {
    return undefined;
  }
  const isLocal = localPeers(addresses);
  return (call) => {
    if (!GUARDED.has(call.credential) || !isLocal(call.peer)) return;
    const { headers } = call;
    if ([...headers.all("host"), ...headers.all(":authority")].every(namesNoSite)) return;
    throw new ServiceError(
      "FORBIDDEN",
      "in development, internal tokens are accepted on this machine for localhost, an IP address or a name without a dot: call one of them, or set security.authn.gateway.trusted_peers",
    );
  };
}

/** Whether a peer is this machine. It is looked up once per connection, since networks change. */
function localPeers(addresses: () => readonly string[]): (peer: Peer) => boolean {
  const known = new WeakMap<Peer, boolean>();
  return (peer) => {
    let isLocal = known.get(peer);
    if (isLocal === undefined) {
      isLocal = PeerTrust.read([...LOOPBACK, ...addresses()]).trust.trustsAddress(peer.address);
      known.set(peer, isLocal);
    }
    return isLocal;
  };
}

function ownAddresses(): readonly string[] {
  return Object.values(networkInterfaces()).flatMap((all = []) =>
    all.map(({ address }) => address),
  );
}

/** Whether the host of a request is an address or a name that nobody has on the Internet: pages are not there. */
function namesNoSite(host: string): boolean {
  const name = host.replace(/:\d*$/, "").toLowerCase();
  if (name.startsWith("[") || isIP(name) !== 0) return true;
  return !name.includes(".") || /(^|\.)localhost\.?$/.test(name);
}
