import type { AddressInfo, Server } from "node:net";
import type { Logger } from "../operation/logger.ts";
import { parseAddress } from "./server-address.ts";
import { StartUpError } from "./start-up-error.ts";

/** Where a server listens, and how it is called. */
export interface ListenOptions {
  /** For messages, such as `gRPC`. */
  readonly what: string;
  /** The key of the address in the configuration, such as `server.grpc.address`. */
  readonly key: string;
  /** `host:port`. */
  readonly address: string;
  /** Is told what goes wrong while it listens. */
  readonly logger?: Logger | undefined;
}

/** What does not let a server take connections comes again with the next one: it is told so often at most. */
const TOLD_EVERY_MS = 10_000;

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: "the address is in use by another process: end that one, or choose another port",
  EACCES:
    "the port needs more rights than this process has: choose one from 1024 on, or grant CAP_NET_BIND_SERVICE",
  EADDRNOTAVAIL: "this machine does not have the address: choose one that it has",
  EAFNOSUPPORT: "this machine has no addresses of that kind: choose one that it has",
  ENOTFOUND: "the host name is not known: choose an address of this machine",
};

/**
 * Makes a server listen. What goes wrong later, such as at the next connection, is logged:
 * nobody else hears of it, and without a listener it would end the process.
 *
 * @throws StartUpError where the address cannot be had
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
