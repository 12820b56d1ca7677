import { readCertificates, readPrivateKey } from "../../tls/certificate-list.ts";

/** How the server is known, and how this client shows itself; in PEM. */
export interface ClientTls {
  /** Who signs the server's certificate; absent, the public authorities. */
  readonly ca?: Uint8Array;
  /** The certificate that the server is shown, with those between it and its authority; needs `key`. */
  readonly certificate?: Uint8Array;
  /** The private key of `certificate`. */
  readonly key?: Uint8Array;
}

/**
 * Looks at the options at once: otherwise each call would fail, with words of OpenSSL.
 *
 * @throws TypeError with all that is wrong
 */
export function checkClientTls({ ca, certificate, key }: ClientTls): void {
  const problems: string[] = [];
  if ((certificate === undefined) !== (key === undefined)) {
    problems.push("tls.certificate and tls.key belong together: set both, or neither");
  }
  for (const [name, pem] of [
    ["ca", ca],
    ["certificate", certificate],
  ] as const) {
    const list = pem === undefined ? undefined : readCertificates(Buffer.from(pem));
    if (list !== undefined && "problem" in list) problems.push(`tls.${name} ${list.problem}`);
  }
  const reading = key === undefined ? undefined : readPrivateKey(Buffer.from(key));
  if (reading !== undefined && "problem" in reading) problems.push(`tls.key ${reading.problem}`);
  if (problems.length > 0) throw new TypeError(problems.join("\n"));
  if (certificate === undefined || reading === undefined || !("key" in reading)) return;
  const list = readCertificates(Buffer.from(certificate));
  if ("certificates" in list && !list.certificates[0].checkPrivateKey(reading.key)) {
    throw new TypeError(
      "tls.key does not match tls.certificate: use a key and certificate that were issued together",
    );
  }
}
