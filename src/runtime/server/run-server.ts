import { AuthzError } from "../../authz/authz-error.ts";
import { ConfigurationError } from "../configuration/configuration-error.ts";
import { redactText } from "../operation/redaction/redact-text.ts";
import { createServer } from "./create-server.ts";
import type { Server } from "./running-server.ts";
import type { ServerOptions } from "./server-options.ts";
import { StartUpError } from "./start-up-error.ts";

/** The exit code of a process that did not get what it needs to start. */
const EXIT_UNUSABLE = 2;
const SIGNALS = ["SIGTERM", "SIGINT"] as const;

/**
 * Runs a server as a process: starts it, and ends it on SIGTERM and SIGINT. A second
 * signal ends the process at once.
 *
 * Where the server does not start, the reasons go to standard error and the exit
 * code is 2 for what a person must mend, else 1.
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
  try {
    const server = await createServer(typeof options === "function" ? await options() : options);
    const stop = (): void => {
      for (const signal of SIGNALS) {
        process.off(signal, stop);
        process.once(signal, () => process.exit(1));
      }
      // What others have left open must not keep the process.
      void server.stop().then(() => process.exit(process.exitCode ?? 0));
    };
    for (const signal of SIGNALS) process.on(signal, stop);
    await server.start();
    return server;
  } catch (error) {
    // Here too: the function may have opened something before it failed.
    return process.exit(tell(error));
  }
}

function tell(error: unknown): number {
  const isForeseen = error instanceof StartUpError || error instanceof ConfigurationError;
  const message = redactText(error instanceof Error ? error.message : String(error));
  process.stderr.write(`${isForeseen ? message : `the server does not start: ${message}`}\n`);
  return isForeseen || error instanceof AuthzError || isOfSystem(error) ? EXIT_UNUSABLE : 1;
}

/** Whether the operating system refused something: a file, a folder, an address. */
function isOfSystem(error: unknown): boolean {
  return error instanceof Error && "syscall" in error;
}
