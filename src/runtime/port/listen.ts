import type { AddressInfo, Server } from "node:net";
import type { Logger } from "../../common/logger.ts";
import { StartUpError } from "../error/start-up-error.ts";
import type { ListeningAddress } from "./transport-server.ts";

/** Reads `host:port`, an IPv6 host in brackets, as in the configuration. */
export function parseAddress(address: string): ListeningAddress {
  const colon = address.lastIndexOf(":");
  const host = address.slice(0, colon).replace(/^\[(.*)\]$/, "$1");
  return { host, port: Number(address.slice(colon + 1)) };
}

/** Where a server listens, and how it is called. */
export interface ListenOptions {
  /** For messages, such as `gRPC`. */
  readonly what: string;
  /** The key of the address in the configuration, such as `server.grpc.address`. */
  readonly key: string;
  /** `host:port`. */
  readonly address: string;
  /** Gets what goes wrong while it listens. */
  readonly logger?: Logger | undefined;
}

/** A cause that prevents accepting connections recurs with the next one: it is reported at most this often. */
const TOLD_EVERY_MS = 10_000;

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: "the address is in use by another process: stop it, or choose another port",
  EACCES:
    "the port needs more rights than this process has: choose one from 1024 on, or grant CAP_NET_BIND_SERVICE",
  EADDRNOTAVAIL: "this machine does not have the address: choose one that it has",
  EAFNOSUPPORT: "this machine has no addresses of that kind: choose one that it has",
  ENOTFOUND: "the host name is not known: choose an address of this machine",
};

/**
 * Makes a server listen. What goes wrong later, such as at the next connection, is logged:
 * nothing else is notified of it, and without a listener it would end the process.
 *
 * @throws StartUpError if it cannot listen on the address
 */
export function listen(server: Server, options: ListenOptions): Promise<AddressInfo> {
  const { host, port } = parseAddress(options.address);
  return new Promise((resolve, reject) => {
    const fail = (error: NodeJS.ErrnoException): void => reject(listenError(options, error));
    server.once("error", fail);
    server.listen({ host, port }, () => {
      server.off("error", fail);
      logErrors(server, options);
      resolve(server.address() as AddressInfo);
    });
  });
}

function listenError(
  { what, key, address }: ListenOptions,
  error: NodeJS.ErrnoException,
): StartUpError {
  const reason = REASONS[error.code ?? ""] ?? error.message;
  return new StartUpError([`${what} cannot listen on ${address} (${key}): ${reason}`], {
    cause: error,
  });
}

function logErrors(server: Server, { what, address, logger }: ListenOptions): void {
  let silentUntil = 0;
  server.on("error", (error) => {
    const now = performance.now();
    if (now < silentUntil) return;
    silentUntil = now + TOLD_EVERY_MS;
    logger?.error({ error, address }, `the ${what} server has a problem`);
  });
}
