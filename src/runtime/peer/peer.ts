import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";

/**
 * The other end of the connection of a call; one value per connection, so that trust
 * is computed once.
 */
export interface Peer {
  /** The IP address, without port; IPv4 in IPv6 as IPv4. Empty if the connection has none. */
  readonly address: string;
  /** The names of its verified client certificate: subject alternative names, or the common name if it has none; empty without mTLS. */
  readonly certificateNames: readonly string[];
}

const IPV4_MAPPED = /^::ffff:(?=[0-9.]+$)/i;

/** The other end of a connection, the same for both transports. */
export function peerOfSocket(socket: Pick<Socket, "remoteAddress">): Peer {
  return Object.freeze({
    address: (socket.remoteAddress ?? "").replace(IPV4_MAPPED, ""),
    certificateNames: Object.freeze(clientCertificateNames(socket)),
  });
}

/** One name of a `subjectaltname` text, quoted if it holds a comma or a quote. */
const ALTERNATIVE = /(DNS|URI|email|IP Address|[^:,]+):("(?:[^"\\]|\\.)*"|(?!")[^,]*)(?:, |$)/gy;

/**
 * The required form of each kind of name: otherwise a host name written as a URI, or a URI written
 * as a host name, would pass for a name that its CA has not verified. Other kinds, such as e-mail
 * addresses, name no peer.
 */
const FORMS: ReadonlyMap<string, (name: string) => boolean> = new Map([
  ["DNS", (name) => !isUri(name)],
  ["URI", isUri],
  ["IP Address", (name) => !isUri(name)],
]);

/**
 * The names of a verified client certificate: its subject alternative names, or the common name
 * if it has none (RFC 6125, 6.4.4). An unverified certificate has no names.
 */
export function clientCertificateNames(socket: object): readonly string[] {
  if (!(socket instanceof TLSSocket) || !socket.authorized) return [];
  const { subjectaltname, subject } = socket.getPeerCertificate();
  if (subjectaltname !== undefined) return [...new Set(alternativeNames(subjectaltname))];
  const common: unknown = subject?.CN;
  // Several common names come as a list: it is unknown which of them the CA verified.
  return typeof common === "string" && common !== "" && !isUri(common) ? [common] : [];
}

/** @internal Reads Node's text form, in which a name cannot smuggle in another one (CVE-2021-44532). */
export function alternativeNames(text: string): string[] {
  const names: string[] = [];
  let end = 0;
  for (const match of text.matchAll(ALTERNATIVE)) {
    if (match[0] === "") break;
    end = match.index + match[0].length;
    const [, kind = "", value = ""] = match;
    const name = value.startsWith('"') ? unquote(value) : value;
    if (name !== undefined && name !== "" && FORMS.get(kind)?.(name) === true) names.push(name);
  }
  // A text that cannot be parsed completely is not trusted in part.
  return end === text.length ? names : [];
}

function isUri(name: string): boolean {
  return name.includes("://");
}

function unquote(text: string): string | undefined {
  try {
    return JSON.parse(text) as string;
  } catch {
    return undefined;
  }
}
