import type { KeyObject, X509Certificate } from "node:crypto";
import { createSecureContext, type SecureContextOptions } from "node:tls";
import type { ServerConfig } from "../configuration/server-config.ts";
import { readCertificates, readPrivateKey, validityProblems } from "./certificate-list.ts";
import {
  type FileReading,
  readTlsFiles,
  type TlsConfig,
  type TlsFiles,
  type TlsKey,
} from "./tls-files.ts";

/** The result of checking the files of a server's certificates. */
export interface TlsCheckResult {
  /** The certificates for the server; absent if there are problems. */
  readonly context: SecureContextOptions | undefined;
  /** The problems that prevent serving, one line each, with key and fix. */
  readonly problems: readonly string[];
  /** Reasons for clients to refuse, such as an expired certificate. */
  readonly warnings: readonly string[];
}

/**
 * Checks the certificates of a server. An expired certificate is a warning: clients refuse it by
 * themselves, and only a running server can pick up the renewed one.
 *
 * @param at the key of the configuration, such as `server.http.tls`
 */
export function checkTls(
  at: string,
  config: TlsConfig,
  { files, problems: unread }: FileReading,
): TlsCheckResult {
  const problems = [...unread];
  const warnings: string[] = [];
  const say = (key: TlsKey, what: string) => `${at}.${key} (${config[key]}) ${what}`;

  const certificatesOf = (key: "certificate_file" | "client_ca_file") => {
    const pem = files[key];
    if (pem === undefined) return undefined;
    const list = readCertificates(pem);
    if ("problem" in list) {
      problems.push(say(key, list.problem));
      return undefined;
    }
    for (const what of validityProblems(list.certificates)) warnings.push(say(key, what));
    return list.certificates;
  };
  const chain = certificatesOf("certificate_file");
  certificatesOf("client_ca_file");
  const reading = files.key_file === undefined ? undefined : readPrivateKey(files.key_file);
  if (reading !== undefined && "problem" in reading) {
    problems.push(say("key_file", reading.problem));
  }
  if (chain !== undefined && reading !== undefined && "key" in reading) {
    const mismatch = pairProblem(at, chain, reading.key);
    if (mismatch !== undefined) problems.push(mismatch);
  }
  if (problems.length > 0) return { context: undefined, problems, warnings };

  const context = contextOf(files as TlsFiles);
  try {
    createSecureContext(context);
  } catch (error) {
    const reason = (error as Error).message;
    const problem = `${at} cannot be served with: ${reason}; issue a new certificate and key`;
    return { context: undefined, problems: [problem], warnings };
  }
  return { context, problems, warnings };
}

function pairProblem(
  at: string,
  chain: readonly X509Certificate[],
  key: KeyObject,
): string | undefined {
  const own = chain.findIndex((certificate) => certificate.checkPrivateKey(key));
  if (own === 0) return undefined;
  return own > 0
    ? `${at}.certificate_file must begin with the server's own certificate; it is number ${own + 1} in it, so put it first`
    : `${at} has a certificate and key that do not match: key_file is not the key of the certificate in certificate_file; name files that were issued together`;
}

function contextOf({ certificate_file, key_file, client_ca_file }: TlsFiles): SecureContextOptions {
  return {
    cert: certificate_file,
    key: key_file,
    minVersion: "TLSv1.2",
    ...(client_ca_file === undefined ? {} : { ca: client_ca_file }),
  };
}

/** What the check of a process's servers found. */
export interface ServerTlsFindings {
  /** The key of the configuration, such as `server.http.tls`. */
  readonly at: string;
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
}

/** Checks the configured certificates of a process's servers. */
export function checkServerTls({
  http,
  grpc,
}: Pick<ServerConfig, "http" | "grpc">): readonly ServerTlsFindings[] {
  const configured = [
    ["server.http.tls", http?.tls],
    ["server.grpc.tls", grpc?.tls],
  ] as const;
  return configured.flatMap(([at, tls]) =>
    tls === undefined ? [] : [{ at, ...checkTls(at, tls, readTlsFiles(at, tls)) }],
  );
}
