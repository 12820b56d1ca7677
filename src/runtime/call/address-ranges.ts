import { type IpAddress, parseIp } from "./ip-address.ts";

/** Addresses of one family that follow each other, both ends included. */
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
   * @returns what is wrong with it; undefined where it was added
   */
  add(text: string): string | undefined {
    const slash = text.indexOf("/");
    const address = parseIp(slash < 0 ? text : text.slice(0, slash));
    if (address === undefined) return "is no IP address or CIDR block";
    const bits = BITS[address.family];
    if (slash < 0) {
      this.#ranges.push({ family: address.family, first: address.value, last: address.value });
      return undefined;
    }
    const prefix = prefixOf(text, slash, address.family);
    if (prefix === undefined) return `must have a prefix length from 0 to ${bits}`;
    const size = 1n << BigInt(bits - prefix);
    // One who writes 10.0.0.1/8 means either the host or the network; guessing may trust too many.
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

  /** Whether every address of a family is in it, be it by several blocks together. */
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
