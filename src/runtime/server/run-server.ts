import { ConfigurationError } from "../configuration/configuration-error.ts";
import { createServer } from "./create-server.ts";
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
 */
export async function runServer(options: ServerOptions): Promise<void> {
  try {
    const server = await createServer(options);
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
  } catch (error) {
    process.exitCode = tell(error);
  }
}

function tell(error: unknown): number {
  const isForeseen = error instanceof StartUpError || error instanceof ConfigurationError;
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(`${isForeseen ? message : `the server does not start: ${message}`}\n`);
  return isForeseen ? EXIT_UNUSABLE : 1;
}
