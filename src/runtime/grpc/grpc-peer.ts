import type { ServerHttp2Session } from "node:http2";
import type { Peer } from "../call/peer.ts";
import { peerOfSocket } from "../call/peer-of-socket.ts";

const UNKNOWN: Peer = Object.freeze({ address: "", certificateNames: Object.freeze([]) });

const known = new WeakMap<ServerHttp2Session, Peer>();

/** The other end of a connection: one value for all calls on it. */
export function peerOf(session: ServerHttp2Session | undefined): Peer {
  if (session === undefined || session.destroyed) return UNKNOWN;
  let peer = known.get(session);
  if (peer === undefined) {
    peer = peerOfSocket(session.socket);
    known.set(session, peer);
  }
  return peer;
}
