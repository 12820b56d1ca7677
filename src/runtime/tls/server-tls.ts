import type { Socket } from "node:net";
import type { SecureContextOptions, Server } from "node:tls";
import type { Logger } from "../../common/logger.ts";
import { StartUpError } from "../error/start-up-error.ts";
import { checkTls } from "./check-tls.ts";
import { readTlsFiles, readTlsFilesLater, type TlsConfig, type TlsFiles } from "./tls-files.ts";

/** How often the files are checked: renewals arrive days before the certificates expire. */
export const RENEWAL_MS = 60_000;
/**
 * How long a handshake may take. Until it is done a connection costs memory without serving calls.
 */
const HANDSHAKE_MS = 10_000;

/** The TLS options for clients of a server. */
export interface HandshakeOptions {
  readonly handshakeTimeout: number;
  readonly requestCert: boolean;
  readonly rejectUnauthorized: boolean;
}

/**
 * The certificates of one server: read at the start, and again whenever their files change. If new
 * files cannot be served, the previous certificates stay in use.
 */
export class ServerTls {
  /** What the server is made with. */
  readonly handshake: HandshakeOptions;
  readonly #at: string;
  readonly #config: TlsConfig;
  readonly #logger: Logger | undefined;
  readonly #warned = new Set<string>();
  #files: Partial<TlsFiles>;
  #context: SecureContextOptions;
  /** The problems of the last check. */
  #wrong = "";

  /**
   * @param at the key of the configuration, such as `server.http.tls`
   * @throws StartUpError with all problems
   */
  constructor(at: string, config: TlsConfig, logger?: Logger) {
    this.#at = at;
    this.#config = config;
    this.#logger = logger;
    const reading = readTlsFiles(at, config);
    const { context, problems, warnings } = checkTls(at, config, reading);
    if (context === undefined) throw new StartUpError(problems);
    this.#files = reading.files;
    this.#context = context;
    this.#warn(warnings);
    const asks = config.client_ca_file !== undefined;
    this.handshake = {
      handshakeTimeout: HANDSHAKE_MS,
      requestCert: asks,
      rejectUnauthorized: asks,
    };
  }

  /** The certificates that are served now. */
  get context(): SecureContextOptions {
    return this.#context;
  }

  /**
   * Checks the files from now on.
   *
   * @param apply called with the certificates of each renewal
   * @returns ends it
   */
  follow(apply: (context: SecureContextOptions) => void): () => void {
    let isLooking = false;
    const timer = setInterval(() => {
      if (isLooking) return;
      isLooking = true;
      this.#look(apply)
        .catch((error: unknown) => {
          this.#logger?.error({ error, key: this.#at }, "the certificates could not be checked");
        })
        .finally(() => {
          isLooking = false;
        });
    }, RENEWAL_MS);
    timer.unref();
    return () => clearInterval(timer);
  }

  async #look(apply: (context: SecureContextOptions) => void): Promise<void> {
    const reading = await readTlsFilesLater(this.#at, this.#config);
    const { context, problems, warnings } = checkTls(this.#at, this.#config, reading);
    const wrong = problems.join("\n");
    // Reported the second time: files that are being written one after the other do not match yet.
    if (wrong !== "" && wrong === this.#wrong && !this.#warned.has(wrong)) {
      this.#warned.add(wrong);
      this.#logger?.error(
        { problems },
        "new certificates cannot be served; the previous ones stay in use",
      );
    }
    this.#wrong = wrong;
    if (context === undefined) return;
    this.#warn(warnings);
    if (sameFiles(reading.files, this.#files)) return;
    this.#files = reading.files;
    this.#context = context;
    this.#warned.clear();
    apply(context);
    this.#logger?.info({ key: this.#at }, "the certificates were renewed");
  }

  #warn(warnings: readonly string[]): void {
    for (const warning of warnings) {
      if (this.#warned.has(warning)) continue;
      this.#warned.add(warning);
      this.#logger?.warn({}, warning);
    }
  }
}

function sameFiles(one: Partial<TlsFiles>, other: Partial<TlsFiles>): boolean {
  const keys = ["certificate_file", "key_file", "client_ca_file"] as const;
  return keys.every((key) => {
    const [left, right] = [one[key], other[key]];
    return left === undefined || right === undefined ? left === right : left.equals(right);
  });
}

/**
 * The connections of a server whose handshake is under way. Node does not list them, and waits for
 * them while it closes.
 */
export class Handshakes {
  /** By the peer's address, since a TLS connection does not refer to its socket. */
  readonly #sockets = new Map<string, Socket>();

  constructor(server: Server) {
    server.on("connection", (socket: Socket) => {
      const end = otherEnd(socket);
      this.#sockets.set(end, socket);
      socket.once("close", () => {
        if (this.#sockets.get(end) === socket) this.#sockets.delete(end);
      });
    });
    server.on("secureConnection", (socket) => this.#sockets.delete(otherEnd(socket)));
  }

  /** Ends them. */
  close(): void {
    for (const socket of this.#sockets.values()) socket.destroy();
  }
}

function otherEnd({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
