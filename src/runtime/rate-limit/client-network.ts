import { isIPv6 } from "node:net";

/**
 * What an address is limited by: an IPv4 address itself, of IPv6 the /64, for a
 * customer has at least one of those and every address in it.
 */
export function clientNetwork(address: string): string {
  if (!address.includes(":")) return address;
  const [plain = ""] = address.split("%");
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(plain)?.[1];
  if (mapped !== undefined) return mapped;
  if (!isIPv6(plain)) return address;
  const [head = "", tail] = plain.split("::");
  const groups = groupsOf(head);
  if (tail !== undefined) {
    const behind = groupsOf(tail);
    while (groups.length + behind.length < GROUPS) groups.push("0");
    groups.push(...behind);
  }
  const network = groups.slice(0, NETWORK_GROUPS).map((group) => Number.parseInt(group, 16));
  return `${network.map((group) => group.toString(16)).join(":")}::/64`;
}

const GROUPS = 8;
const NETWORK_GROUPS = 4;

/** The groups of a part of an address; an IPv4 address at the end stands for two. */
function groupsOf(part: string): string[] {
  if (part === "") return [];
  const groups = part.split(":");
  if (groups.at(-1)?.includes(".")) groups.splice(-1, 1, "0", "0");
  return groups;
}
