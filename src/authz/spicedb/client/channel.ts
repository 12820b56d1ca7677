import type { v1 } from "@authzed/authzed-node";
import type { ChannelCredentials, ClientOptions } from "@grpc/grpc-js";
import { authzed } from "../../../common/drivers/authzed.ts";
import { ipAddressOf, withoutServerName } from "../../../common/grpc-address.ts";
import type { AskedServer } from "../../engine/asked-server.ts";
import { invalid } from "../../engine/validate-request.ts";

/** Where SpiceDB is, and how it is called. */
export interface ConnectionOptions {
  /** Where SpiceDB answers gRPC, `host:port`. */
  readonly endpoint: string;
  /** The preshared key; never in a message. */
  readonly token: string;
  /** Whether it is called without TLS: inside a mesh or on one machine only. False if absent. */
  readonly insecure?: boolean;
  /** The certificates, in PEM, that SpiceDB's must be signed by; those of the system if absent. */
  readonly ca?: string | Uint8Array;
  /**
   * How long a call of the engine may take, including all its requests and retries, in
   * milliseconds; 5000 if absent.
   */
  readonly deadlineMs?: number;
  /**
   * The section of the configuration that the options are from, such as `security.authz.spicedb`: messages
   * for operators then name its keys. Absent, they name these options.
   */
  readonly section?: string;
}

/** How long a call may take where the options do not say. */
export const DEADLINE_MS = 5000;
/** How long one stream of a watch lives; it is reopened after the last change that it reported. */
export const LEASE_MS = 15_000;
const MAX_TIMER_MS = 2 ** 31 - 1;

const CHANNEL = {
  // A server that comes back is found within seconds; the default goes up to two minutes.
  "grpc.initial_reconnect_backoff_ms": 100,
  "grpc.max_reconnect_backoff_ms": 2000,
  "grpc.max_receive_message_length": 64 * 1024 * 1024,
  // This program decides which calls are retried, not a record in the DNS.
  "grpc.service_config_disable_resolution": 1,
  // A process that is busy for a second has not lost its peer.
  "grpc.keepalive_timeout_ms": 5000,
};
/**
 * After this time without a response a ping is sent; sooner if the deadline of the call is sooner.
 */
const KEEPALIVE_MS = 3000;

/**
 * A client for short calls. While one is under way, pings detect a peer that disappeared without
 * closing the connection.
 *
 * SpiceDB accepts three pings in a row without a response in between, and closes the connection at
 * the fourth. So there are at most three within a call. The first comes well before the call's end:
 * grpc-js pings only while one is under way, and one at its very end may come too late.
 */
export function callClient(options: ConnectionOptions): v1.ZedClientInterface {
  const { deadlineMs = DEADLINE_MS } = options;
  const third = Math.ceil(deadlineMs / 3);
  const keepalive = Math.max(third, Math.min(KEEPALIVE_MS, 2 * third));
  return client(options, { "grpc.keepalive_time_ms": keepalive });
}

/**
 * A client for one stream of a watch, on a connection of its own: the stream may be silent for as
 * long as it lives, and three pings must be enough for all of it.
 */
export function watchClient(options: ConnectionOptions): v1.ZedClientInterface {
  return client(options, {
    "grpc.keepalive_time_ms": Math.ceil(LEASE_MS / 3),
    "grpc.use_local_subchannel_pool": 1,
  });
}

function client(options: ConnectionOptions, more: Record<string, number>): v1.ZedClientInterface {
  const { endpoint, token, insecure = false, ca } = options;
  const channel = { ...CHANNEL, ...more, ...(insecure ? {} : addressChannels(options)) };
  // No preconnection flags (0): the services connect when they are first used.
  if (ca !== undefined) {
    return authzed.NewClientWithCustomCert(token, endpoint, Buffer.from(ca), 0, channel);
  }
  const { SECURE, INSECURE_PLAINTEXT_CREDENTIALS } = authzed.ClientSecurity;
  const security = insecure ? INSECURE_PLAINTEXT_CREDENTIALS : SECURE;
  return authzed.NewClient(token, endpoint, security, 0, channel);
}

/** Channels to an IP address over TLS, which send no server name; undefined for a name. */
function addressChannels({ endpoint, ca }: ConnectionOptions): ClientOptions | undefined {
  const host = ipAddressOf(endpoint);
  if (host === undefined) return undefined;
  const tls = ca === undefined ? {} : { ca: Buffer.from(ca) };
  // The services of a client have the same credentials.
  let own: ChannelCredentials | undefined;
  return {
    channelFactoryOverride(address, credentials, options) {
      own ??= withoutServerName(credentials, host, tls);
      // A channel of the client's own grpc-js, which is not that of this package.
      return new authzed.PermissionsServiceClient(address, own, options).getChannel();
    },
  };
}

/** The SpiceDB of the options, for messages. */
export function serverOf({ endpoint: address, section }: ConnectionOptions): AskedServer {
  const name = "SpiceDB";
  if (section === undefined) {
    const keys = { endpoint: "endpoint", insecure: "insecure", token: "token", ca: "ca" };
    return { name, address, keys };
  }
  const keys = {
    endpoint: `${section}.endpoint`,
    insecure: `${section}.insecure`,
    token: `${section}.token or token_file`,
    ca: `${section}.ca_file`,
  };
  return { name, address, keys };
}

/** @throws AuthzError INVALID_ARGUMENT for options that can never connect; the token is not named */
export function checkConnectionOptions(options: ConnectionOptions): void {
  const { endpoint, token, insecure, ca, deadlineMs = DEADLINE_MS } = options;
  if (typeof endpoint !== "string" || !/^\S+:\d+$/.test(endpoint)) {
    throw invalid(`the endpoint of SpiceDB must be host:port, not ${JSON.stringify(endpoint)}`);
  }
  // The error of grpc-js would contain the value, which is a secret.
  if (typeof token !== "string" || !/^[\x21-\x7e]+$/.test(token)) {
    throw invalid("the preshared key of SpiceDB must be printable ASCII without spaces");
  }
  if (insecure && ca !== undefined) {
    throw invalid("set insecure or a CA certificate for SpiceDB, not both");
  }
  if (!Number.isInteger(deadlineMs) || deadlineMs < 1 || deadlineMs > MAX_TIMER_MS) {
    throw invalid(`the deadline must be 1 to ${MAX_TIMER_MS} milliseconds, not ${deadlineMs}`);
  }
}
