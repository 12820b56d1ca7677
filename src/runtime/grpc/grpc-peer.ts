import type { ServerHttp2Session } from "node:http2";
import type { Peer } from "../call/peer.ts";
import { clientCertificateNames } from "../http/client-certificate.ts";

const MAPPED_IPV4 = /^::ffff:(?=[0-9.]+$)/i;
const UNKNOWN: Peer = Object.freeze({ address: "", certificateNames: Object.freeze([]) });

const known = new WeakMap<ServerHttp2Session, Peer>();

/** The other end of a connection: one value for all calls on it. */
export function peerOf(session: ServerHttp2Session | undefined): Peer {
  if (session === undefined || session.destroyed) return UNKNOWN;
  let peer = known.get(session);
  if (peer === undefined) {
    peer = Object.freeze({
      address: (session.socket.remoteAddress ?? "").replace(MAPPED_IPV4, ""),
      certificateNames: Object.freeze(clientCertificateNames(session.socket)),
    });
    known.set(session, peer);
  }
  return peer;
}
