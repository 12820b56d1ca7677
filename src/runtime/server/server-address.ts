import type { ListeningAddress } from "../server/transport-server.ts";

/** Reads `host:port`, an IPv6 host in brackets, as the configuration has it. */
export function parseAddress(address: string): ListeningAddress {
  const colon = address.lastIndexOf(":");
  const host = address.slice(0, colon).replace(/^\[(.*)\]$/, "$1");
  return { host, port: Number(address.slice(colon + 1)) };
}
