import { TLSSocket } from "node:tls";

/** One name of a `subjectaltname` text, quoted where it holds a comma or a quote. */
const ALTERNATIVE = /(DNS|URI|email|IP Address|[^:,]+):("(?:[^"\\]|\\.)*"|(?!")[^,]*)(?:, |$)/gy;
const NAME_KINDS: ReadonlySet<string> = new Set(["DNS", "URI", "email", "IP Address"]);

/**
 * The names of a verified client certificate: subject alternative names and the
 * common name. One that was not verified names nobody.
 */
export function clientCertificateNames(socket: object): readonly string[] {
  if (!(socket instanceof TLSSocket) || !socket.authorized) return [];
  const certificate = socket.getPeerCertificate();
  const names = alternativeNames(certificate.subjectaltname ?? "");
  const common: unknown = certificate.subject?.CN;
  for (const name of Array.isArray(common) ? common : [common]) {
    if (typeof name === "string" && name !== "") names.push(name);
  }
  return [...new Set(names)];
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
    if (NAME_KINDS.has(kind) && name !== undefined && name !== "") names.push(name);
  }
  // What cannot be read to its end is not believed in part.
  return end === text.length ? names : [];
}

function unquote(text: string): string | undefined {
  try {
    return JSON.parse(text) as string;
  } catch {
    return undefined;
  }
}
