import { printableLines } from "../../common/printable.ts";
import type { ProcessLogger } from "../operation/create-logger.ts";
import { redactText } from "../operation/redaction/redact-text.ts";
import type { Server } from "./running-server.ts";

const SIGNALS = ["SIGTERM", "SIGINT"] as const;

/**
 * What ends a process, from its first moment on: SIGTERM and SIGINT, the second of which ends it
 * at once, and errors that nobody caught. Listens itself, for without a listener the first
 * process of a container does not hear signals at all, and Node prints errors with all their secrets.
 */
export class ProcessEnd {
  #serving: { readonly server: Server; readonly logger: ProcessLogger } | undefined;
  #isEnding = false;
  #exitCode = 0;

  constructor() {
    for (const signal of SIGNALS) process.on(signal, () => this.#signal(signal));
    // Rejections that nobody handled come here, too.
    process.on("uncaughtException", (error) => this.#uncaught(error));
  }

  /** Whether the process ends by itself, whatever else fails meanwhile. */
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
    process.stderr.write(`${signal} ends the process before the server was made\n`);
    process.exit(0);
  }

  /** What an error has left behind is not known: calls under way may finish, then a new process is needed. */
  #uncaught(error: unknown): void {
    this.#exitCode = 1;
    if (this.#serving === undefined) {
      const text = `an error that nobody caught: ${redactText(messageOf(error))}`;
      process.stderr.write(`${printableLines(text)}\n`);
      process.exit(1);
    }
    this.#serving.logger.error({ error }, "an error that nobody caught: the process ends");
    if (!this.#isEnding) this.#end();
  }

  #end(): void {
    this.#isEnding = true;
    // What others have left open must not keep the process.
    void this.#serving?.server.stop().then(() => {
      process.exit(this.#exitCode || (process.exitCode ?? 0));
    });
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
