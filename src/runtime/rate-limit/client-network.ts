import { formatIp, parseIp } from "../call/ip-address.ts";

/** `64:ff9b::/96` (RFC 6052): an IPv4 client as a translator shows it to a network of IPv6 only. */
const TRANSLATED = 0x64_ff9b_0000_0000_0000_0000n;
const IPV4_BITS = 32n;
const IPV4_MASK = 0xffff_ffffn;

const LAST_GROUP = 7;
const GROUP_BITS = 16n;

/**
 * What an address is limited by: an IPv4 address itself, of IPv6 the /64, for a
 * customer has at least one of those and every address in it.
 *
 * @param bits how much of an IPv6 address counts: 48 are a site, which has many networks
 */
export function clientNetwork(address: string, bits: 48 | 64 = 64): string {
  if (!address.includes(":")) return address;
  const [plain = ""] = address.split("%");
  const ip = parseIp(plain);
  if (ip === undefined) return address;
  const { family, value } = ip;
  if (family === 4) return formatIp(ip);
  // All IPv4 clients stand in that one /64: whoever is first would use up the limit of all.
  if (value >> IPV4_BITS === TRANSLATED) return formatIp({ family: 4, value: value & IPV4_MASK });
  const groups: string[] = [];
  for (let group = 0; group < bits / 16; group++) {
    const part = (value >> (BigInt(LAST_GROUP - group) * GROUP_BITS)) & 0xffffn;
    groups.push(part.toString(16));
  }
  return `${groups.join(":")}::/${bits}`;
}
