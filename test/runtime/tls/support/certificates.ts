import { execFileSync, spawnSync } from "node:child_process";
import { createPrivateKey, sign } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A certificate with its key, as files and as bytes. */
export interface Identity {
  readonly certificateFile: string;
  readonly keyFile: string;
  readonly certificate: Buffer;
  readonly key: Buffer;
}

/** The content of a certificate. */
export interface CertificateText {
  /** One or several common names; absent for none. */
  readonly commonName?: string | readonly string[];
  /** Alternative names in openssl's form: `DNS:a.example.com,URI:spiffe://x`. */
  readonly names?: string;
  /** The extended key usage: `clientAuth`, `serverAuth`; absent for any. */
  readonly usage?: string;
  /** Further lines of openssl's extension file. */
  readonly lines?: readonly string[];
  /** The number of days; negative for an expired one. */
  readonly days?: number;
}

/** A CA. */
export interface Authority extends Identity {
  issue(name: string, text: CertificateText): Identity;
  /** A certificate in whose names `!nul!` is a word between two NULs, which openssl does not write. */
  issueWithNul(name: string, text: CertificateText): Identity;
}

/** The certificates of one test file, in a separate folder. */
export interface Certificates {
  readonly folder: string;
  /** The path of a file in the folder. */
  path(name: string): string;
  authority(name: string, text?: CertificateText): Authority;
  /** A self-signed certificate. */
  selfSigned(name: string, text: CertificateText): Identity;
  remove(): void;
}

/** Whether the tests with certificates are skipped, with a warning; never in CI. */
export function opensslIsAbsent(): boolean {
  if (spawnSync("openssl", ["version"]).status === 0) return false;
  const message = "there is no openssl on the PATH: install it";
  if (process.env["CI"] === "true") throw new Error(message);
  console.warn(`SKIPPED, the tests with certificates: ${message}`);
  return true;
}

const NEW_KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
/** The key of a CA: its signatures have a fixed length, so that a certificate can be signed again in place. */
const NEW_CA_KEY = ["-newkey", "rsa:2048", "-nodes"];
const SIGNATURE_BYTES = 256;
/** The certificate's own header: a tag, and a length in three bytes. */
const HEADER_BYTES = 4;

export function makeCertificates(): Certificates {
  const folder = mkdtempSync(join(tmpdir(), "svc-access-tls-"));
  const path = (name: string) => join(folder, name);
  const openssl = (...args: string[]) => {
    execFileSync("openssl", args, { cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
  };
  const identity = (name: string): Identity => {
    const [certificateFile, keyFile] = [path(`${name}.pem`), path(`${name}.key`)];
    const [certificate, key] = [readFileSync(certificateFile), readFileSync(keyFile)];
    return { certificateFile, keyFile, certificate, key };
  };
  const subject = ({ commonName }: CertificateText) => {
    const names = [commonName ?? []].flat().map((one) => `/CN=${one}`);
    return ["-subj", `/O=Example${names.join("")}`];
  };
  const own = (name: string, text: CertificateText, key: string[], ...extensions: string[]) => {
    const added = extensions.flatMap((one) => ["-addext", one]);
    const days = ["-days", String(text.days ?? 2)];
    const files = ["-keyout", `${name}.key`, "-out", `${name}.pem`];
    openssl("req", "-x509", ...key, ...files, ...days, ...subject(text), ...added);
    return identity(name);
  };
  const authority = (caName: string, caText: CertificateText = {}): Authority => {
    const ca = own(caName, { commonName: caName, ...caText }, NEW_CA_KEY);
    const issue = (name: string, text: CertificateText) => {
      const extensions = ["basicConstraints=CA:FALSE"];
      if (text.names !== undefined) extensions.push(`subjectAltName=${text.names}`);
      if (text.usage !== undefined) extensions.push(`extendedKeyUsage=${text.usage}`);
      extensions.push(...(text.lines ?? []));
      writeFileSync(path(`${name}.ext`), `${extensions.join("\n")}\n`);
      const request = ["-keyout", `${name}.key`, "-out", `${name}.csr`];
      openssl("req", ...NEW_KEY, ...request, ...subject(text));
      const by = ["-CA", ca.certificateFile, "-CAkey", ca.keyFile, "-CAcreateserial"];
      const out = ["-out", `${name}.pem`, "-extfile", `${name}.ext`];
      const days = ["-days", String(text.days ?? 2)];
      openssl("x509", "-req", "-in", `${name}.csr`, ...by, ...days, ...out);
      return identity(name);
    };
    const issueWithNul = (name: string, text: CertificateText) => {
      const { certificateFile, certificate } = issue(name, text);
      writeFileSync(certificateFile, toPem(withNul(toDer(certificate), ca.key)));
      return identity(name);
    };
    return { ...ca, issue, issueWithNul };
  };
  return {
    folder,
    path,
    authority,
    selfSigned(name, text) {
      const names = text.names === undefined ? [] : [`subjectAltName=${text.names}`];
      return own(name, text, NEW_KEY, ...names);
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** The certificate with NULs instead of the marks of `!nul!`, signed again by its CA. */
function withNul(der: Buffer, caKey: Buffer): Buffer {
  const text = der.subarray(HEADER_BYTES);
  const length = HEADER_BYTES + text.readUInt16BE(2);
  const marked = text.subarray(0, length).toString("latin1");
  const body = Buffer.from(marked.replaceAll("!nul!", "\0nul\0"), "latin1");
  const signature = sign("sha256", body, createPrivateKey(caKey));
  const between = text.subarray(length, text.length - SIGNATURE_BYTES);
  return Buffer.concat([der.subarray(0, HEADER_BYTES), body, between, signature]);
}

function toDer(pem: Buffer): Buffer {
  return Buffer.from(pem.toString("latin1").replaceAll(/-----[^-]+-----|\s/g, ""), "base64");
}

function toPem(der: Buffer): string {
  const lines = der.toString("base64").match(/.{1,64}/g) ?? [];
  return ["-----BEGIN CERTIFICATE-----", ...lines, "-----END CERTIFICATE-----", ""].join("\n");
}
