import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";

const CERTIFICATE =
  /-----BEGIN (?:X509 )?CERTIFICATE-----[\s\S]*?-----END (?:X509 )?CERTIFICATE-----/g;
const ANY_KEY = /-----BEGIN [A-Z ]*PRIVATE KEY-----/;

/** The certificates of a file, or what is wrong with it. */
export type CertificateList =
  | { readonly certificates: readonly [X509Certificate, ...X509Certificate[]] }
  | { readonly problem: string };

/** Reads the certificates of a PEM file, all of them: OpenSSL would pass over what it cannot read. */
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
      ? "holds a private key and no certificate; give the certificate there"
      : "holds no PEM certificate; one begins with -----BEGIN CERTIFICATE-----, and DER becomes one by: openssl x509 -inform der",
  };
}

/** What is wrong with the times of certificates: the other side refuses them. */
export function validityProblems(certificates: readonly X509Certificate[]): string[] {
  const now = Date.now();
  return certificates.flatMap((certificate, index) => {
    const what =
      certificates.length === 1
        ? ""
        : `holds certificate ${index + 1} of ${certificates.length}, which `;
    const [from, to] = [Date.parse(certificate.validFrom), Date.parse(certificate.validTo)];
    if (to < now) return [`${what}has expired on ${timeOf(to)}; renew it`];
    if (from > now) return [`${what}is not valid before ${timeOf(from)}; look at the clock`];
    return [];
  });
}

function timeOf(time: number): string {
  return new Date(time).toISOString().replace(".000Z", "Z");
}

const ENCRYPTED = /-----BEGIN ENCRYPTED PRIVATE KEY-----|^Proc-Type: 4,ENCRYPTED/m;

/** A private key, or what is wrong with its file. */
export type PrivateKeyReading = { readonly key: KeyObject } | { readonly problem: string };

/** Reads a private key. What it says of the file holds nothing of the key. */
export function readPrivateKey(pem: Buffer): PrivateKeyReading {
  const text = pem.toString("latin1");
  if (text.trim() === "") return { problem: "is empty; put the private key into it, as PEM" };
  if (ENCRYPTED.test(text)) {
    return {
      problem:
        "is encrypted, and nobody is asked for the passphrase; decrypt it by: openssl pkey -in FILE -out FILE, and guard the file by its rights",
    };
  }
  try {
    return { key: createPrivateKey(pem) };
  } catch {
    return {
      problem: text.includes("-----BEGIN CERTIFICATE-----")
        ? "holds a certificate and no private key; give the key there"
        : "holds no PEM private key; one begins with -----BEGIN PRIVATE KEY-----, and DER becomes one by: openssl pkey -inform der",
    };
  }
}
