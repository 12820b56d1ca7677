import { formatIp, type IpAddress, parseIp } from "../peer/ip-address.ts";
import type { PeerTrust } from "../peer/peer-trust.ts";
import type { Call } from "./call.ts";
import type { CallHeaders } from "./call-headers.ts";

const FORWARDED_FOR = "x-forwarded-for";
/** No deployment has more proxies than this. */
const MAX_HOPS = 32;
/** An IPv6 address in brackets with port, and white space around it. */
const MAX_HOP_LENGTH = 64;
const WITH_PORT = /^(?:\[([^\]]*)\]|([0-9.]+))(?::[0-9]{1,5})?$/;

/** The stage "request info": whether the peer is trusted, and the address of the client behind it. */
export function requestInfoStage(trust: PeerTrust): (call: Call) => void {
  return (call) => {
    const { peer } = call;
    const trusted = trust.trusts(peer);
    call.peerIsTrusted = trusted;
    call.clientAddress = trusted ? clientAddress(call.headers, peer.address, trust) : peer.address;
  };
}

/**
 * The right-most hop of `X-Forwarded-For` that is not itself a trusted peer; anybody may have
 * written the hops to its left. If a hop is not an address, or there are too many, the last hop
 * that a trusted peer reported.
 */
export function clientAddress(headers: CallHeaders, peer: string, trust: PeerTrust): string {
  const client = clientHop(headers.all(FORWARDED_FOR), trust);
  return client === undefined ? peer : formatIp(client);
}

function clientHop(values: readonly string[], trust: PeerTrust): IpAddress | undefined {
  let client: IpAddress | undefined;
  let hops = 0;
  for (let index = values.length - 1; index >= 0; index--) {
    const value = values[index] as string;
    let end = value.length;
    while (end >= 0) {
      if (++hops > MAX_HOPS) return client;
      const comma = end === 0 ? -1 : value.lastIndexOf(",", end - 1);
      if (end - comma > MAX_HOP_LENGTH) return client;
      const hop = parseHop(value.slice(comma + 1, end).trim());
      if (hop === undefined) return client;
      client = hop;
      if (!trust.trustsIp(hop)) return client;
      end = comma;
    }
  }
  return client;
}

/**
 * The address of a hop, which may be in brackets and have a port; undefined if it is not an
 * address.
 */
function parseHop(text: string): IpAddress | undefined {
  const plain = parseIp(text);
  if (plain !== undefined) return plain;
  const match = WITH_PORT.exec(text);
  const address = match?.[1] ?? match?.[2];
  return address === undefined ? undefined : parseIp(address);
}
