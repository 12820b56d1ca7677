import type { IOptions } from "etcd3";
import { Etcd3 } from "../../common/drivers/etcd3.ts";
import { readRegularFile } from "../../common/regular-file.ts";
import { readCertificates, readPrivateKey } from "../tls/certificate-list.ts";
import { unreadable } from "../tls/tls-files.ts";

/** How etcd is reached. */
export interface EtcdConnection extends EtcdCertificateFiles {
  /** http or https URLs, all of one kind. */
  readonly endpoints: readonly string[];
  /** The user of etcd; needs `password`. */
  readonly username?: string | undefined;
  /** The password of `username`. */
  readonly password?: string | undefined;
}

/** No single request takes longer; a partition would leave it hanging. */
export const ETCD_TIMEOUT_MS = 5000;
/** Pings detect a silently broken connection; etcd allows one every 5 s. */
const KEEPALIVE_TIME_MS = 10_000;
const KEEPALIVE_TIMEOUT_MS = 5000;
/** Ten instances of a thousand routes are more than the 4 MB that gRPC allows by itself. */
const MAX_RESPONSE_BYTES = 256 * 1024 * 1024;

/**
 * A new client. The caller closes it. The files are read each time, so that renewed certificates
 * are used from the next connection on.
 *
 * @throws Error if a file cannot be read or is not valid
 */
export function connectEtcd(connection: EtcdConnection): Etcd3 {
  const { endpoints, username, password } = connection;
  const options: IOptions = {
    hosts: [...endpoints],
    grpcOptions: {
      "grpc.keepalive_time_ms": KEEPALIVE_TIME_MS,
      "grpc.keepalive_timeout_ms": KEEPALIVE_TIMEOUT_MS,
      "grpc.max_receive_message_length": MAX_RESPONSE_BYTES,
    },
    defaultCallOptions: ({ isStream }) => (isStream ? {} : etcdDeadline()),
  };
  const credentials = etcdCredentials(connection);
  if (credentials !== undefined) options.credentials = credentials;
  if (username !== undefined && password !== undefined) {
    options.auth = { username, password, callOptions: () => etcdDeadline() };
  }
  return new Etcd3(options);
}

/** The options of a request that must be answered in time. */
export function etcdDeadline(): { deadline: number } {
  return { deadline: Date.now() + ETCD_TIMEOUT_MS };
}

type Credentials = NonNullable<IOptions["credentials"]>;

/** The files of a connection to etcd by https, PEM. */
export interface EtcdCertificateFiles {
  /** The CA certificates that etcd is verified with; absent, those that the system trusts. */
  readonly caFile?: string | undefined;
  /** The client certificate of this process; needs `keyFile`. */
  readonly certificateFile?: string | undefined;
  /** The private key of `certificateFile`. */
  readonly keyFile?: string | undefined;
}

/**
 * The certificates of a connection to etcd; undefined if it has none of its own.
 *
 * @throws Error with all problems of the files, by their keys in the configuration
 */
function etcdCredentials(files: EtcdCertificateFiles): Credentials | undefined {
  const { caFile, certificateFile, keyFile } = files;
  const problems: string[] = [];
  const read = (key: string, path: string | undefined, what: typeof certificateProblem) => {
    if (path === undefined) return undefined;
    const name = `registry.etcd.${key}`;
    try {
      const pem = readRegularFile(path);
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
