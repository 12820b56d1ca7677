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

/** Reads an IP address without port, brackets or zone; undefined if it is not valid. */
export function parseIp(text: string): IpAddress | undefined {
  if (isIPv4(text)) return { family: 4, value: ipv4Value(text) };
  if (!isIPv6(text) || text.includes("%")) return undefined;
  const value = ipv6Value(text);
  return value >> 32n === MAPPED_PREFIX
    ? { family: 4, value: value & IPV4_MASK }
    : { family: 6, value };
}

/** The canonical form of an address, so that data by address is kept once. */
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

/** A range of addresses of one family, both ends included. */
interface Range {
  readonly family: 4 | 6;
  readonly first: bigint;
  readonly last: bigint;
}

const BITS = { 4: 32, 6: 128 } as const;
const PREFIX = /^(0|[1-9][0-9]{0,2})$/;

/** A set of addresses, built of addresses and CIDR blocks. */
export class AddressRanges {
  readonly #ranges: Range[] = [];

  /**
   * Adds `10.0.0.1`, `10.0.0.0/8` or `fd00::/8`.
   *
   * @returns what is wrong with it; undefined if it was added
   */
  add(text: string): string | undefined {
    const slash = text.indexOf("/");
    const address = parseIp(slash < 0 ? text : text.slice(0, slash));
    if (address === undefined) return "is not an IP address or CIDR block";
    const bits = BITS[address.family];
    if (slash < 0) {
      this.#ranges.push({ family: address.family, first: address.value, last: address.value });
      return undefined;
    }
    const prefix = prefixOf(text, slash, address.family);
    if (prefix === undefined) return `must have a prefix length from 0 to ${bits}`;
    const size = 1n << BigInt(bits - prefix);
    // 10.0.0.1/8 may mean either the host or the network; guessing may trust too many.
    if (address.value % size !== 0n) {
      return `has bits beyond its prefix of ${prefix}; write the first address of the block`;
    }
    const last = address.value + size - 1n;
    this.#ranges.push({ family: address.family, first: address.value, last });
    return undefined;
  }

  has({ family, value }: IpAddress): boolean {
    for (const range of this.#ranges) {
      if (range.family === family && value >= range.first && value <= range.last) return true;
    }
    return false;
  }

  /** Whether every address of a family is in it, possibly by several blocks together. */
  holdsAll(family: 4 | 6): boolean {
    const ranges = this.#ranges
      .filter((range) => range.family === family)
      .sort((left, right) => (left.first < right.first ? -1 : 1));
    let next = 0n;
    for (const { first, last } of ranges) {
      if (first > next) return false;
      if (last >= next) next = last + 1n;
    }
    return next === 1n << BigInt(BITS[family]);
  }
}

/** The prefix length; that of a mapped IPv4 block counts from the 96th bit. */
function prefixOf(text: string, slash: number, family: 4 | 6): number | undefined {
  const digits = text.slice(slash + 1);
  if (!PREFIX.test(digits)) return undefined;
  const isMapped = family === 4 && text.includes(":");
  const prefix = Number(digits) - (isMapped ? BITS[6] - BITS[4] : 0);
  return prefix >= 0 && prefix <= BITS[family] ? prefix : undefined;
}

/** `64:ff9b::/96` (RFC 6052): an IPv4 client behind a translator to an IPv6-only network. */
const TRANSLATED = 0x64_ff9b_0000_0000_0000_0000n;
const IPV4_BITS = 32n;

const LAST_GROUP = 7;

/**
 * The key of an address for limits: an IPv4 address itself, for IPv6 the /64, since a customer has
 * at least one /64 with all its addresses.
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
  // All IPv4 clients are in that one /64: the first one would use up the limit of all.
  if (value >> IPV4_BITS === TRANSLATED) return formatIp({ family: 4, value: value & IPV4_MASK });
  const groups: string[] = [];
  for (let group = 0; group < bits / 16; group++) {
    const part = (value >> (BigInt(LAST_GROUP - group) * GROUP_BITS)) & 0xffffn;
    groups.push(part.toString(16));
  }
  return `${groups.join(":")}::/${bits}`;
}
