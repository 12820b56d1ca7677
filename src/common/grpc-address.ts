/**
 * gRPC over TLS to an IP address. The name that a client sends at the beginning of TLS must not be an address
 * (RFC 6066). grpc-js sends it all the same, and Node warns about it once in each process (DEP0123).
 */
import { readFileSync } from "node:fs";
import { isIP, type Socket } from "node:net";
import { connect, createSecureContext, type SecureContext } from "node:tls";
import type { ChannelCredentials } from "@grpc/grpc-js";

/** The certificates of a connection, PEM. */
export interface AddressTls {
  /**
   * Those that the server's must be signed by; absent, those of GRPC_DEFAULT_SSL_ROOTS_FILE_PATH, and without it those
   * that Node trusts.
   */
  readonly ca?: Buffer | undefined;
  /** The certificate of the client, and its key. */
  readonly cert?: Buffer | undefined;
  readonly key?: Buffer | undefined;
}

/** The IP address of a target `host:port`; undefined if the host is a name. */
export function ipAddressOf(target: string): string | undefined {
  const [, bracketed, plain] = /^(?:\[([^\]]+)\]|([^:]+)):\d+$/.exec(target) ?? [];
  const host = bracketed ?? plain ?? "";
  return isIP(host) === 0 ? undefined : host;
}

/**
 * Lets these credentials connect to an IP address without a server name. The certificate of the server must
 * have the address among its names, as before.
 *
 * @param credentials of one client; they are changed
 */
export function withoutServerName(
  credentials: ChannelCredentials,
  address: string,
  tls: AddressTls,
): ChannelCredentials {
  const secureContext = createSecureContext({
    ...tls,
    ca: tls.ca ?? defaultRoots(),
    ciphers: process.env["GRPC_SSL_CIPHER_SUITES"],
  });
  const createConnector = credentials._createSecureConnector.bind(credentials);
  credentials._createSecureConnector = (...given) => {
    const connector = createConnector(...given);
    return {
      connect: (socket) => secured(socket, address, secureContext),
      waitForReady: () => connector.waitForReady(),
      getCallCredentials: () => connector.getCallCredentials(),
      destroy: () => connector.destroy(),
    };
  };
  return credentials;
}

/** The certificates that grpc-js trusts by the environment: an address must not follow another rule than a name. */
function defaultRoots(): Buffer | undefined {
  const path = process.env["GRPC_DEFAULT_SSL_ROOTS_FILE_PATH"];
  return path ? readFileSync(path) : undefined;
}

function secured(
  socket: Socket,
  host: string,
  secureContext: SecureContext,
): Promise<{ socket: Socket; secure: boolean }> {
  return new Promise((resolve, reject) => {
    // Not the default, which NODE_TLS_REJECT_UNAUTHORIZED would change.
    const options = { socket, host, secureContext, rejectUnauthorized: true };
    const secure = connect({ ...options, ALPNProtocols: ["h2"] }, () =>
      resolve({ socket: secure, secure: true }),
    );
    secure.on("error", reject);
  });
}
