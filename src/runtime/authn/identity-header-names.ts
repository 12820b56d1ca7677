import { IDENTITY_HEADERS } from "../../api/identity-headers.ts";

/** Headers that only show who somebody is; these may hold UTF-8, the others are printable ASCII. */
const DISPLAY_HEADERS: ReadonlySet<string> = new Set([
  "x-svc-external-email",
  "x-svc-external-name",
  "x-svc-external-display-name",
  "x-svc-external-username",
]);

const HYPHEN = 0x2d;
const DOT = 0x2e;
const UNDERSCORE = 0x5f;

/** What a header name is: one that carries an identity, another spelling of one, or neither. */
export type IdentityHeaderKind = "text" | "display" | "variant" | "other";

/** Tells the headers of spec 5.5, and the one of internal tokens, from all other headers. */
export class IdentityHeaderNames {
  /** All of them, in lower case. */
  readonly names: ReadonlySet<string>;
  /** The third and first character of each, as a number: nearly all other headers differ in these. */
  readonly #starts = new Set<number>();
  readonly #shortest: number;
  readonly #longest: number;

  /** @param internalHeader the header of internal tokens, by configuration */
  constructor(internalHeader: string) {
    this.names = new Set([...IDENTITY_HEADERS, internalHeader.toLowerCase()]);
    const lengths = [...this.names].map(({ length }) => length);
    this.#shortest = Math.min(...lengths);
    this.#longest = Math.max(...lengths) + "-bin".length;
    for (const name of this.names) this.#starts.add(startOf(name));
  }

  kindOf(name: string): IdentityHeaderKind {
    if (!this.#starts.has(startOf(name))) return "other";
    if (this.names.has(name)) return DISPLAY_HEADERS.has(name) ? "display" : "text";
    if (name.length < this.#shortest || name.length > this.#longest) return "other";
    return this.names.has(canonical(name)) ? "variant" : "other";
  }

  /** Whether a text is one of the names, in any spelling. */
  means(name: string): boolean {
    return this.kindOf(name) !== "other";
  }
}

/** The same for all spellings of a name. */
function startOf(name: string): number {
  return (folded(name.charCodeAt(0)) << 8) | folded(name.charCodeAt(2));
}

function folded(code: number): number {
  return code === UNDERSCORE || code === DOT ? HYPHEN : code | 0x20;
}

/** The name that a proxy, a framework or gRPC might take another spelling for (CVE-2025-64484). */
function canonical(name: string): string {
  const text = name.toLowerCase().replace(/[_.]/g, "-");
  return text.endsWith("-bin") ? text.slice(0, -"-bin".length) : text;
}
