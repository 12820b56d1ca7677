import { AddressRanges, type IpAddress, parseIp } from "./ip-address.ts";
import type { Peer } from "./peer.ts";

/** The problem of one of the trusted entries. */
export interface TrustProblem {
  readonly index: number;
  readonly message: string;
}

/** The entries that mean this machine. */
export const LOOPBACK: readonly string[] = ["127.0.0.0/8", "::1"];

/**
 * The peers whose identity headers and forwarding headers are accepted (docs/requirements.md,
 * HDR-2): those in a list of CIDR blocks, addresses and names of client certificates.
 */
export class PeerTrust {
  readonly #addresses: AddressRanges;
  readonly #names: CertificateNames;
  readonly #known = new WeakMap<Peer, boolean>();

  private constructor(addresses: AddressRanges, names: CertificateNames) {
    this.#addresses = addresses;
    this.#names = names;
  }

  /**
   * Reads a list of trusted peers, and reports all its problems. Malformed entries trust nobody.
   */
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

  /** Whether some peers are trusted by the name of their certificate. */
  get needsCertificates(): boolean {
    return this.#names.size > 0;
  }

  /** Whether the headers of this peer are accepted; computed once per peer. */
  trusts(peer: Peer): boolean {
    const known = this.#known.get(peer);
    if (known !== undefined) return known;
    const trusted =
      this.trustsAddress(peer.address) ||
      peer.certificateNames.some((name) => this.#names.has(name));
    this.#known.set(peer, trusted);
    return trusted;
  }

  /** Whether a hop of this address is one of the trusted; one that is not an address is not. */
  trustsAddress(address: string): boolean {
    // Link-local addresses include their interface: fe80::1%eth0.
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

const LABELS = /^[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*$/;
/** Such as spiffe://cluster.local/ns/edge/sa/envoy; names of this kind are distinguished by letter case. */
const URI = /^[a-z][a-z0-9+.-]*:\/\/[\x21-\x29\x2b\x2d-\x7e]+$/;
const MAX_LENGTH = 2048;

/** A set of names of client certificates: exact ones, and `*.x` for one label before `x`. */
class CertificateNames {
  readonly #exact = new Set<string>();
  readonly #suffixes = new Set<string>();

  get size(): number {
    return this.#exact.size + this.#suffixes.size;
  }

  /**
   * Adds a name.
   *
   * @returns what is wrong with it; undefined if it was added
   */
  add(name: string): string | undefined {
    const lower = name.toLowerCase();
    if (lower === "localhost") {
      return "would be the name of a certificate; write 127.0.0.0/8 and ::1 for this machine";
    }
    if (URI.test(name) && name.length <= MAX_LENGTH) this.#exact.add(name);
    else if (lower.startsWith("*.") && isHostName(lower.slice(2))) {
      this.#suffixes.add(lower.slice(1));
    } else if (isHostName(lower)) this.#exact.add(lower);
    else
      return "is not an IP address, CIDR block or certificate name (exact, or *.x for one label)";
    return undefined;
  }

  has(name: string): boolean {
    if (this.#exact.has(name)) return true;
    const lower = name.toLowerCase();
    // A certificate name that is itself a pattern identifies nobody in particular.
    if (!isHostName(lower)) return false;
    if (this.#exact.has(lower)) return true;
    const dot = lower.indexOf(".");
    return dot > 0 && this.#suffixes.has(lower.slice(dot));
  }
}

/** One whose last label is a number is a mistyped address or a range of them. */
function isHostName(text: string): boolean {
  return text.length <= 253 && LABELS.test(text) && !/(^|\.)[0-9]+$/.test(text);
}
