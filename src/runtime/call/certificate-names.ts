const LABELS = /^[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*$/;
/** Such as spiffe://cluster.local/ns/edge/sa/envoy; names of this kind are told apart by letter case. */
const URI = /^[a-z][a-z0-9+.-]*:\/\/[\x21-\x29\x2b\x2d-\x7e]+$/;
const MAX_LENGTH = 2048;

/** A set of names of client certificates: exact ones, and `*.x` for one label before `x`. */
export class CertificateNames {
  readonly #exact = new Set<string>();
  readonly #suffixes = new Set<string>();

  get size(): number {
    return this.#exact.size + this.#suffixes.size;
  }

  /**
   * Adds a name.
   *
   * @returns what is wrong with it; undefined where it was added
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
    else return "is no IP address, CIDR block or certificate name (exact, or *.x for one label)";
    return undefined;
  }

  has(name: string): boolean {
    if (this.#exact.has(name)) return true;
    const lower = name.toLowerCase();
    // A name that is a pattern itself names nobody in particular.
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
