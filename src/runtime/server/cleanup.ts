import type { Logger } from "../operation/logger.ts";

/** What must be closed in the end, the last opened first. */
export class Cleanup {
  readonly #tasks: (() => void | Promise<void>)[] = [];

  add(task: () => void | Promise<void>): void {
    this.#tasks.push(task);
  }

  /** Closes all, once; what fails is logged and keeps nothing else from being closed. */
  async run(logger: Logger): Promise<void> {
    for (let task = this.#tasks.pop(); task !== undefined; task = this.#tasks.pop()) {
      try {
        await task();
      } catch (error) {
        logger.error({ error }, "a part could not be closed");
      }
    }
  }
}
