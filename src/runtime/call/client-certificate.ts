import { TLSSocket } from "node:tls";

/** One name of a `subjectaltname` text, quoted where it holds a comma or a quote. */
const ALTERNATIVE = /(DNS|URI|email|IP Address|[^:,]+):("(?:[^"\\]|\\.)*"|(?!")[^,]*)(?:, |$)/gy;

/**
 * Of which form a name must be to count as one of its kind: a host name written as a URI, or a
 * URI written as a host name, would pass for what its CA has not looked at. Other kinds, such
 * as e-mail addresses, name no peer.
 */
const FORMS: ReadonlyMap<string, (name: string) => boolean> = new Map([
  ["DNS", (name) => !isUri(name)],
  ["URI", isUri],
  ["IP Address", (name) => !isUri(name)],
]);

/**
 * The names of a verified client certificate: its subject alternative names, or the common name
 * where it has none (RFC 6125, 6.4.4). One that was not verified names nobody.
 */
export function clientCertificateNames(socket: object): readonly string[] {
  if (!(socket instanceof TLSSocket) || !socket.authorized) return [];
  const { subjectaltname, subject } = socket.getPeerCertificate();
  if (subjectaltname !== undefined) return [...new Set(alternativeNames(subjectaltname))];
  const common: unknown = subject?.CN;
  // Several common names come as a list: which of them was looked at cannot be told.
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
  // What cannot be read to its end is not believed in part.
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
