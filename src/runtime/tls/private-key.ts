import { createPrivateKey, type KeyObject } from "node:crypto";

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
