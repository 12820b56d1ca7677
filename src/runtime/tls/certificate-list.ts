import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";

const CERTIFICATE =
  /-----BEGIN (?:X509 )?CERTIFICATE-----[\s\S]*?-----END (?:X509 )?CERTIFICATE-----/g;
const ANY_KEY = /-----BEGIN [A-Z ]*PRIVATE KEY-----/;

/** The certificates of a file, or its problem. */
export type CertificateList =
  | { readonly certificates: readonly [X509Certificate, ...X509Certificate[]] }
  | { readonly problem: string };

/**
 * Reads the certificates of a PEM file, all of them: OpenSSL would skip entries that it cannot
 * read.
 */
export function readCertificates(pem: Buffer): CertificateList {
  const text = pem.toString("latin1");
  if (text.trim() === "") return { problem: "is empty; put the certificates into it, as PEM" };
  const found = text.match(CERTIFICATE) ?? [];
  const certificates: X509Certificate[] = [];
  for (const [index, one] of found.entries()) {
    try {
      certificates.push(new X509Certificate(one));
    } catch {
      return {
        problem: `is damaged: certificate ${index + 1} in it is not a certificate; write the file again`,
      };
    }
  }
  const [first, ...others] = certificates;
  if (first !== undefined) return { certificates: [first, ...others] };
  return {
    problem: ANY_KEY.test(text)
      ? "contains a private key, but no certificate; put the certificate there"
      : "contains no PEM certificate, which begins with -----BEGIN CERTIFICATE-----; convert DER with: openssl x509 -inform der",
  };
}

/** The problems of the validity periods of certificates, which the other side refuses. */
export function validityProblems(certificates: readonly X509Certificate[]): string[] {
  const now = Date.now();
  return certificates.flatMap((certificate, index) => {
    const what =
      certificates.length === 1
        ? ""
        : `holds certificate ${index + 1} of ${certificates.length}, which `;
    const [from, to] = [Date.parse(certificate.validFrom), Date.parse(certificate.validTo)];
    if (to < now) return [`${what}has expired on ${timeOf(to)}; renew it`];
    if (from > now) return [`${what}is not valid before ${timeOf(from)}; check the clock`];
    return [];
  });
}

function timeOf(time: number): string {
  return new Date(time).toISOString().replace(".000Z", "Z");
}

const ENCRYPTED = /-----BEGIN ENCRYPTED PRIVATE KEY-----|^Proc-Type: 4,ENCRYPTED/m;

/** A private key, or the problem of its file. */
export type PrivateKeyReading = { readonly key: KeyObject } | { readonly problem: string };

/** Reads a private key. The problem never contains any of the key. */
export function readPrivateKey(pem: Buffer): PrivateKeyReading {
  const text = pem.toString("latin1");
  if (text.trim() === "") return { problem: "is empty; put the private key into it, as PEM" };
  if (ENCRYPTED.test(text)) {
    return {
      problem:
        "is encrypted, which is not supported; decrypt it with: openssl pkey -in FILE -out FILE, and restrict access to the file",
    };
  }
  try {
    return { key: createPrivateKey(pem) };
  } catch {
    return {
      problem: text.includes("-----BEGIN CERTIFICATE-----")
        ? "contains a certificate, but no private key; put the key there"
        : "contains no PEM private key, which begins with -----BEGIN PRIVATE KEY-----; convert DER with: openssl pkey -inform der",
    };
  }
}
