import { Etcd3, type IOptions } from "etcd3";
import { type EtcdCertificateFiles, etcdCredentials } from "./etcd-credentials.ts";

/** How etcd is reached. */
export interface EtcdConnection extends EtcdCertificateFiles {
  /** http or https URLs, all of one kind. */
  readonly endpoints: readonly string[];
  readonly username?: string | undefined;
  readonly password?: string | undefined;
}

/** No single request takes longer; a partition would leave it hanging. */
export const ETCD_TIMEOUT_MS = 5000;
/** A connection that was cut without a word is noticed by these; etcd allows one in 5 s. */
const KEEPALIVE_TIME_MS = 10_000;
const KEEPALIVE_TIMEOUT_MS = 5000;
/** Ten instances of a thousand routes are more than the 4 MB that gRPC allows by itself. */
const MAX_RESPONSE_BYTES = 256 * 1024 * 1024;

/**
 * A new client. What keeps it open closes it. The files are read each time, so that renewed
 * certificates are used from the next connection on.
 *
 * @throws Error where a file cannot be read or is none
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
