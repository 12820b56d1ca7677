import { AddressRanges } from "./address-ranges.ts";
import { CertificateNames } from "./certificate-names.ts";
import { type IpAddress, parseIp } from "./ip-address.ts";
import type { Peer } from "./peer.ts";

/** What is wrong with one of the entries that a trust is made of. */
export interface TrustProblem {
  readonly index: number;
  readonly message: string;
}

/** The entries that mean this machine. */
export const LOOPBACK: readonly string[] = ["127.0.0.0/8", "::1"];

/**
 * Whose identity headers and forwarding headers count (design.md, "Trust"): the
 * peers inside a list of CIDR blocks, addresses and names of client certificates.
 */
export class PeerTrust {
  readonly #addresses: AddressRanges;
  readonly #names: CertificateNames;
  readonly #known = new WeakMap<Peer, boolean>();

  private constructor(addresses: AddressRanges, names: CertificateNames) {
    this.#addresses = addresses;
    this.#names = names;
  }

  /** Reads a list of trusted peers, and tells all that is wrong with it. What is malformed trusts nobody. */
  static read(entries: readonly string[]): { trust: PeerTrust; problems: TrustProblem[] } {
    const addresses = new AddressRanges();
    const names = new CertificateNames();
    const problems: TrustProblem[] = [];
    for (const [index, entry] of entries.entries()) {
      const message = isAddressLike(entry) ? addresses.add(entry) : names.add(entry);
      if (message !== undefined) problems.push({ index, message: `"${entry}" ${message}` });
    }
    return { trust: new PeerTrust(addresses, names), problems };
  }

  /** Whether every IPv4 or every IPv6 address is trusted. */
  get holdsEverybody(): boolean {
    return this.#addresses.holdsAll(4) || this.#addresses.holdsAll(6);
  }

  /** Whether some are trusted by the name of their certificate. */
  get needsCertificates(): boolean {
    return this.#names.size > 0;
  }

  /** Whether the headers of this peer count; worked out once for a peer. */
  trusts(peer: Peer): boolean {
    const known = this.#known.get(peer);
    if (known !== undefined) return known;
    const trusted =
      this.trustsAddress(peer.address) ||
      peer.certificateNames.some((name) => this.#names.has(name));
    this.#known.set(peer, trusted);
    return trusted;
  }

  /** Whether a hop of this address is one of the trusted; one that is no address is not. */
  trustsAddress(address: string): boolean {
    // Link-local peers come with their interface: fe80::1%eth0.
    const zone = address.indexOf("%");
    const ip = parseIp(zone < 0 ? address : address.slice(0, zone));
    return ip !== undefined && this.trustsIp(ip);
  }

  trustsIp(address: IpAddress): boolean {
    return this.#addresses.has(address);
  }
}

/** Whether an entry was meant as an address: then it must not become a name that nobody has. */
function isAddressLike(entry: string): boolean {
  if (entry.includes("://")) return false;
  return entry.includes(":") || entry.includes("/") || /^[0-9.]*$/.test(entry);
}
