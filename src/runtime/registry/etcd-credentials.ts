import { readFileSync } from "node:fs";
import type { IOptions } from "etcd3";
import { readCertificates } from "../tls/certificate-list.ts";
import { readPrivateKey } from "../tls/private-key.ts";
import { unreadable } from "../tls/tls-files.ts";

type Credentials = NonNullable<IOptions["credentials"]>;

/** The files of a connection to etcd by https, PEM. */
export interface EtcdCertificateFiles {
  /** Who signs its own certificate; absent, those that the system trusts. */
  readonly caFile?: string | undefined;
  /** The certificate that this process shows, and its key; both or neither. */
  readonly certificateFile?: string | undefined;
  readonly keyFile?: string | undefined;
}

/**
 * The certificates of a connection to etcd; undefined where it has none of its own.
 *
 * @throws Error with all that is wrong with the files, by their keys in the configuration
 */
export function etcdCredentials(files: EtcdCertificateFiles): Credentials | undefined {
  const { caFile, certificateFile, keyFile } = files;
  const problems: string[] = [];
  const read = (key: string, path: string | undefined, what: typeof certificateProblem) => {
    if (path === undefined) return undefined;
    const name = `registry.etcd.${key}`;
    try {
      const pem = readFileSync(path);
      const problem = what(pem);
      if (problem !== undefined) problems.push(`${name} (${path}) ${problem}`);
      return pem;
    } catch (error) {
      problems.push(unreadable(name, path, error));
      return undefined;
    }
  };
  if ((certificateFile === undefined) !== (keyFile === undefined)) {
    problems.push("registry.etcd must have certificate_file and key_file, or neither");
  }
  const rootCertificate = read("ca_file", caFile, certificateProblem);
  const certChain = read("certificate_file", certificateFile, certificateProblem);
  const privateKey = read("key_file", keyFile, keyProblem);
  if (problems.length > 0) throw new Error(problems.join("; "));
  if (rootCertificate === undefined && certChain === undefined) return undefined;
  const credentials = {
    ...(rootCertificate && { rootCertificate }),
    ...(certChain && { certChain }),
    ...(privateKey && { privateKey }),
  };
  // Without a CA the public ones are meant: the types of etcd3 leave that out.
  return credentials as Credentials;
}

function certificateProblem(pem: Buffer): string | undefined {
  const list = readCertificates(pem);
  return "problem" in list ? list.problem : undefined;
}

function keyProblem(pem: Buffer): string | undefined {
  const reading = readPrivateKey(pem);
  return "problem" in reading ? reading.problem : undefined;
}
