import { isIPv4, isIPv6, SocketAddress } from "node:net";

/** An IP address as a number; IPv4 in IPv6 is IPv4. */
export interface IpAddress {
  readonly family: 4 | 6;
  readonly value: bigint;
}

const MAPPED_PREFIX = 0xffffn;
const IPV4_MASK = 0xffff_ffffn;
const GROUP_BITS = 16n;
const GROUPS = 8;

/** Reads an IP address without port, brackets or zone; undefined where it is none. */
export function parseIp(text: string): IpAddress | undefined {
  if (isIPv4(text)) return { family: 4, value: ipv4Value(text) };
  if (!isIPv6(text) || text.includes("%")) return undefined;
  const value = ipv6Value(text);
  return value >> 32n === MAPPED_PREFIX
    ? { family: 4, value: value & IPV4_MASK }
    : { family: 6, value };
}

/** The one spelling of an address, so that what is kept by address is kept once. */
export function formatIp({ family, value }: IpAddress): string {
  if (family === 4) {
    const number = Number(value);
    return `${number >>> 24}.${(number >>> 16) & 255}.${(number >>> 8) & 255}.${number & 255}`;
  }
  const groups: string[] = [];
  for (let index = GROUPS - 1; index >= 0; index--) {
    groups.push(((value >> (BigInt(index) * GROUP_BITS)) & 0xffffn).toString(16));
  }
  return new SocketAddress({ address: groups.join(":"), family: "ipv6" }).address;
}

function ipv4Value(text: string): bigint {
  let value = 0;
  for (const part of text.split(".")) value = value * 256 + Number(part);
  return BigInt(value);
}

/** Of text that is known to be an IPv6 address. */
function ipv6Value(text: string): bigint {
  const [head = "", tail] = text.split("::");
  const first = groupsOf(head);
  const last = tail === undefined ? [] : groupsOf(tail);
  const zeros = new Array<number>(GROUPS - first.length - last.length).fill(0);
  let value = 0n;
  for (const group of [...first, ...zeros, ...last]) value = (value << GROUP_BITS) | BigInt(group);
  return value;
}

function groupsOf(text: string): number[] {
  if (text === "") return [];
  return text.split(":").flatMap((group) => {
    if (!group.includes(".")) return [Number.parseInt(group, 16)];
    const value = Number(ipv4Value(group));
    return [value >>> 16, value & 0xffff];
  });
}
