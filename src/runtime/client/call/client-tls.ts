import { readCertificates, readPrivateKey } from "../../tls/certificate-list.ts";

/** The CA of the server, and the certificate of this client: PEM, as text or as the bytes of a file. */
export interface ClientTls {
  /** The CA certificates that the server is verified with; absent, the public CAs. */
  readonly ca?: string | Uint8Array;
  /** The client certificate, with its intermediate certificates; needs `key`. */
  readonly certificate?: string | Uint8Array;
  /** The private key of `certificate`. */
  readonly key?: string | Uint8Array;
}

/** The bytes of a PEM, as the TLS libraries take them. */
export function pemBytes(pem: string | Uint8Array): Buffer {
  return typeof pem === "string" ? Buffer.from(pem, "utf8") : Buffer.from(pem);
}

/**
 * Checks the options at once: otherwise each call would fail, with an error of OpenSSL.
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
    const list = pem === undefined ? undefined : readCertificates(pemBytes(pem));
    if (list !== undefined && "problem" in list) problems.push(`tls.${name} ${list.problem}`);
  }
  const reading = key === undefined ? undefined : readPrivateKey(pemBytes(key));
  if (reading !== undefined && "problem" in reading) problems.push(`tls.key ${reading.problem}`);
  if (problems.length > 0) throw new TypeError(problems.join("\n"));
  if (certificate === undefined || reading === undefined || !("key" in reading)) return;
  const list = readCertificates(pemBytes(certificate));
  if ("certificates" in list && !list.certificates[0].checkPrivateKey(reading.key)) {
    throw new TypeError(
      "tls.key does not match tls.certificate: use a key and certificate that were issued together",
    );
  }
}
