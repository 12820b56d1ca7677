import { LOOPBACK, PeerTrust } from "../call/peer-trust.ts";
import type { ServiceConfig } from "../configuration/service-config.ts";

const DEVELOPMENT = "development";

/** Whether loopback stands in for trusted peers that are not given. */
export function trustsLoopback({ environment, security }: ServiceConfig): boolean {
  const { enabled, mode, gateway } = security.authn;
  return (
    enabled &&
    environment === DEVELOPMENT &&
    (mode === "gateway_trusted" || mode === "hybrid") &&
    gateway.trusted_peers.length === 0
  );
}

/**
 * Whom a service trusts, by its configuration.
 *
 * @throws Error where an entry is malformed; `checkAuthnConfig` tells all of them
 */
export function peerTrustOf(config: ServiceConfig): PeerTrust {
  const { trusted_peers: peers, allow_any_peer: allowsAny } = config.security.authn.gateway;
  const { trust, problems } = PeerTrust.read(trustsLoopback(config) ? LOOPBACK : peers);
  if (problems.length > 0 || (trust.holdsEverybody && !allowsAny)) {
    throw new Error("the trusted peers of the configuration are not valid");
  }
  return trust;
}
