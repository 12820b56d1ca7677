import { IDENTITY_HEADERS } from "../../../api/identity-headers.ts";
import type { Call } from "../../call/call.ts";
import { HeadersWithout } from "../../call/call-headers.ts";
import { ServiceError } from "../../error/service-error.ts";
import type { RuntimeEvents } from "../../events/runtime-events.ts";
import { decodeHeaderText, isPrintableAscii } from "../identity/identity-text.ts";

/** Headers that are only displayed; these may contain UTF-8, the others are printable ASCII. */
const DISPLAY_HEADERS: ReadonlySet<string> = new Set([
  "x-svc-external-email",
  "x-svc-external-name",
  "x-svc-external-display-name",
  "x-svc-external-username",
]);

const HYPHEN = 0x2d;
const DOT = 0x2e;
const UNDERSCORE = 0x5f;

/** The kind of a header name: an identity header, another spelling of one, or neither. */
export type IdentityHeaderKind = "text" | "display" | "variant" | "other";

/** Distinguishes identity headers, and the header of internal tokens, from all other headers. */
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

  /** Whether a text is one of the names, in any spelling variant. */
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

/**
 * The name for which a proxy, a framework or gRPC might mistake another spelling (CVE-2025-64484).
 */
function canonical(name: string): string {
  const text = name.toLowerCase().replace(/[_.]/g, "-");
  return text.endsWith("-bin") ? text.slice(0, -"-bin".length) : text;
}

/** Longer values are not an identity. */
const MAX_VALUE_LENGTH = 8192;

/** What the metadata stage needs. */
export interface IdentityHeaderOptions {
  readonly names: IdentityHeaderNames;
  /**
   * The header of internal tokens, in lower case, if they are accepted: a secret is accepted
   * from any peer.
   */
  readonly internalHeader: string | undefined;
  readonly events: RuntimeEvents;
}

/**
 * The stage "metadata": ambiguous identity headers are refused from every peer; those of an
 * untrusted peer are removed.
 */
export function identityHeaderStage(options: IdentityHeaderOptions): (call: Call) => void {
  const { names, internalHeader, events } = options;
  const hidden = new Set(names.names);
  if (internalHeader !== undefined) hidden.delete(internalHeader);

  return (call) => {
    const { headers } = call;
    let drop = false;
    for (const name of headers.names()) {
      const kind = names.kindOf(name);
      if (kind === "other") continue;
      if (kind === "variant") throw refused(name, "is another spelling of an identity header");
      checkValues(name, headers.all(name), kind === "display");
      drop ||= hidden.has(name);
    }
    checkConnection(headers.all("connection"), names);
    if (drop && !call.peerIsTrusted) {
      call.headers = new HeadersWithout(headers, hidden);
      events.identityHeadersDropped();
    }
  };
}

function checkValues(name: string, values: readonly string[], isDisplay: boolean): void {
  if (values.length !== 1) throw refused(name, "must occur once");
  const value = values[0] as string;
  if (value.length > MAX_VALUE_LENGTH) throw refused(name, "is too long");
  if (isPrintableAscii(value)) return;
  if (!isDisplay) throw refused(name, "must be printable ASCII");
  if (decodeHeaderText(value) === undefined) throw refused(name, "must be printable UTF-8");
}

/**
 * A proxy in between removes the headers that `Connection` names, even those that the gateway set
 * (CVE-2024-45410).
 */
function checkConnection(values: readonly string[], names: IdentityHeaderNames): void {
  for (const value of values) {
    if (value === "keep-alive" || value === "close") continue;
    for (const option of value.split(",")) {
      if (names.means(option.trim())) {
        throw new ServiceError(
          "INVALID_ARGUMENT",
          "the Connection header names an identity header",
        );
      }
    }
  }
}

/** Names are known ones or spellings of them, so they are safe to show; values are not. */
function refused(name: string, why: string): ServiceError {
  return new ServiceError("INVALID_ARGUMENT", `the header ${name} ${why}`);
}
