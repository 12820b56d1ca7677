import { AuthzError } from "../../authz/engine/authz-error.ts";
import { MissingDriverError } from "../../common/drivers/missing-driver.ts";
import { printableLines } from "../../common/printable.ts";
import { DatabaseError } from "../../database/database-error.ts";
import { ConfigurationError } from "../configuration/configuration-error.ts";
import { StartUpError } from "../error/start-up-error.ts";
import { createLogger, loggerOptionsOf, type ProcessLogger } from "../logging/create-logger.ts";
import { redactText } from "../logging/redaction/redact-text.ts";
import { UnusableSecretError } from "../secret/read-secret-file.ts";
import { createServer } from "./create-server.ts";
import type { Server } from "./running-server.ts";
import type { ServerOptions } from "./server-options.ts";

/** The exit code of a process whose start failed for a reason that a person must fix. */
const EXIT_UNUSABLE = 2;

/**
 * Runs a server as a process: starts it, and ends it on SIGTERM and SIGINT. A second
 * signal ends the process at once (docs/requirements.md, OBS-5).
 *
 * Where the server does not start, the reasons go to standard error and the exit code is 2 for a
 * problem that a person must fix, else 1. An uncaught error, such as a rejected promise that nobody
 * awaits, is logged, and stops the server as a signal does, with the exit code 1.
 *
 * @param options the options of the server, or a function that loads them: its errors are reported
 * in the same way
 * @param program the name of the program, with which each message on standard error begins, such as
 * `notes: service.yaml:3:5: …`
 * @returns the server, once it has started; its audit events can be queried
 *
 * @example
 * ```ts
 * await runServer(async () => {
 *   const configuration = loadServiceConfig("service.yaml");
 *   const engine = await createAuthorizationEngine(configuration.config);
 *   return {
 *     configuration,
 *     engine,
 *     bindings: [bindNotesService(handlers(engine))],
 *     routes: readRouteDocument("gen/routes/notes.json"),
 *   };
 * });
 * ```
 */
export async function runServer(
  options: ServerOptions | (() => ServerOptions | Promise<ServerOptions>),
  program?: string,
): Promise<Server> {
  const say = (text: string) => {
    process.stderr.write(
      printableLines(program === undefined ? `${text}\n` : `${program}: ${text}\n`),
    );
  };
  const end = new ProcessEnd(say);
  try {
    const given = typeof options === "function" ? await options() : options;
    const logger = given.logger ?? createLogger(loggerOptionsOf(given.configuration.config));
    const server = await createServer({ ...given, logger });
    end.serving(server, logger);
    await server.start();
    return server;
  } catch (error) {
    // It was asked to stop during the start, and is about to.
    if (end.isEnding) return new Promise(() => undefined);
    // Here too: the function may have opened something before it failed.
    return process.exit(reportEnd(error, say));
  }
}

/** Writes a message for the person who starts the process. */
type Say = (text: string) => void;

function reportEnd(error: unknown, say: Say): number {
  const isForeseen = error instanceof StartUpError || error instanceof ConfigurationError;
  const message = redactText(error instanceof Error ? error.message : String(error));
  say(isForeseen ? message : `the server does not start: ${message}`);
  return isForeseen || isOfNeed(error) || isOfSystem(error) ? EXIT_UNUSABLE : 1;
}

/**
 * Whether a dependency of the service is not available: a store, a driver, a secret of a client.
 */
function isOfNeed(error: unknown): boolean {
  const needs = [AuthzError, DatabaseError, MissingDriverError, UnusableSecretError];
  return needs.some((need) => error instanceof need);
}

/** Whether the operating system refused something: a file, a folder, an address. */
function isOfSystem(error: unknown): boolean {
  return error instanceof Error && "syscall" in error;
}

const SIGNALS = ["SIGTERM", "SIGINT"] as const;

/**
 * Handles the end of a process from its first moment on: SIGTERM and SIGINT, the second of which
 * ends it at once, and uncaught errors. It listens itself, since without a listener the first
 * process of a container does not get signals, and Node prints errors with all their secrets.
 */
class ProcessEnd {
  #serving: { readonly server: Server; readonly logger: ProcessLogger } | undefined;
  #isEnding = false;
  #exitCode = 0;

  readonly #say: Say;

  constructor(say: Say) {
    this.#say = say;
    for (const signal of SIGNALS) process.on(signal, () => this.#signal(signal));
    // Rejections that nobody handled come here, too.
    process.on("uncaughtException", (error) => this.#uncaught(error));
  }

  /** Whether the process is already ending, regardless of further failures. */
  get isEnding(): boolean {
    return this.#isEnding;
  }

  /** From now on the process ends by stopping the server. */
  serving(server: Server, logger: ProcessLogger): void {
    this.#serving = { server, logger };
  }

  #signal(signal: string): void {
    if (this.#isEnding) process.exit(1);
    if (this.#serving !== undefined) return this.#end();
    this.#say(`${signal} ends the process before the server was created`);
    process.exit(0);
  }

  /**
   * After an uncaught error the state is unknown: calls under way may finish, then a new process is
   * needed.
   */
  #uncaught(error: unknown): void {
    this.#exitCode = 1;
    if (this.#serving === undefined) {
      this.#say(`uncaught error: ${redactText(messageOf(error))}`);
      process.exit(1);
    }
    this.#serving.logger.error({ error }, "uncaught error: the process ends");
    // No new calls: also during the delay after a signal.
    if (this.#isEnding) void this.#serving.server.stop({ withoutDelay: true });
    else this.#end({ withoutDelay: true });
  }

  #end(options: { readonly withoutDelay?: boolean } = {}): void {
    this.#isEnding = true;
    // Handles that others left open must not keep the process alive.
    void this.#serving?.server.stop(options).then(() => {
      process.exit(this.#exitCode || (process.exitCode ?? 0));
    });
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
