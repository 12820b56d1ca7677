import { AuthzError } from "../../authz/authz-error.ts";
import { printableLines } from "../../common/printable.ts";
import { ConfigurationError } from "../configuration/configuration-error.ts";
import { createLogger, loggerOptionsOf } from "../operation/create-logger.ts";
import { redactText } from "../operation/redaction/redact-text.ts";
import { UnusableSecretError } from "../secret/unusable-secret-error.ts";
import { createServer } from "./create-server.ts";
import { ProcessEnd } from "./process-end.ts";
import type { Server } from "./running-server.ts";
import type { ServerOptions } from "./server-options.ts";
import { StartUpError } from "./start-up-error.ts";

/** The exit code of a process that did not get what it needs to start. */
const EXIT_UNUSABLE = 2;

/**
 * Runs a server as a process: starts it, and ends it on SIGTERM and SIGINT. A second
 * signal ends the process at once.
 *
 * Where the server does not start, the reasons go to standard error and the exit
 * code is 2 for what a person must mend, else 1. An error that nobody caught, such as in a
 * promise that nobody waits for, is logged, and ends the server as a signal does, with the exit code 1.
 *
 * @param options what the server is made of, or a function that loads and opens it: what
 * that throws is told in the same way
 * @returns the server, once it has started; its audit events can be queried
 *
 * @example
 * await runServer(() => ({
 *   configuration: loadServiceConfig("hub.yaml"),
 *   bindings: [bindSkillService(handlers)],
 * }));
 */
export async function runServer(
  options: ServerOptions | (() => ServerOptions | Promise<ServerOptions>),
): Promise<Server> {
  const end = new ProcessEnd();
  try {
    const given = typeof options === "function" ? await options() : options;
    const logger = given.logger ?? createLogger(loggerOptionsOf(given.configuration.config));
    const server = await createServer({ ...given, logger });
    end.serving(server, logger);
    await server.start();
    return server;
  } catch (error) {
    // It was told to end while it started, and is about to.
    if (end.isEnding) return new Promise(() => undefined);
    // Here too: the function may have opened something before it failed.
    return process.exit(tell(error));
  }
}

function tell(error: unknown): number {
  const isForeseen = error instanceof StartUpError || error instanceof ConfigurationError;
  const message = redactText(error instanceof Error ? error.message : String(error));
  const text = isForeseen ? message : `the server does not start: ${message}`;
  process.stderr.write(`${printableLines(text)}\n`);
  return isForeseen || isOfNeed(error) || isOfSystem(error) ? EXIT_UNUSABLE : 1;
}

/** Whether something that the service needs cannot be had: a store, a secret of a client. */
function isOfNeed(error: unknown): boolean {
  return error instanceof AuthzError || error instanceof UnusableSecretError;
}

/** Whether the operating system refused something: a file, a folder, an address. */
function isOfSystem(error: unknown): boolean {
  return error instanceof Error && "syscall" in error;
}
