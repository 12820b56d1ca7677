import type { Socket } from "node:net";
import { clientCertificateNames } from "./client-certificate.ts";
import type { Peer } from "./peer.ts";

const IPV4_MAPPED = /^::ffff:(?=[0-9.]+$)/i;

/** The other end of a connection, the same for both transports. */
export function peerOfSocket(socket: Pick<Socket, "remoteAddress">): Peer {
  return Object.freeze({
    address: (socket.remoteAddress ?? "").replace(IPV4_MAPPED, ""),
    certificateNames: Object.freeze(clientCertificateNames(socket)),
  });
}
