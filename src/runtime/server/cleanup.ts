import type { Logger } from "../../common/logger.ts";
import { within } from "../../common/within.ts";

/** How long all of them may take together: a part that hangs must not keep the process alive. */
const LIMIT_MS = 5000;

/** What must be closed in the end, the last opened first. */
export class Cleanup {
  readonly #tasks: (() => void | Promise<void>)[] = [];

  add(task: () => void | Promise<void>): void {
    this.#tasks.push(task);
  }

  /**
   * Closes all, once; a part that fails or hangs is logged, and the others are closed all the same.
   */
  async run(logger: Logger): Promise<void> {
    const end = performance.now() + LIMIT_MS;
    for (let task = this.#tasks.pop(); task !== undefined; task = this.#tasks.pop()) {
      try {
        const rest = Math.max(0, end - performance.now());
        await within(Promise.resolve(task()), rest, () =>
          logger.error({ limit_ms: LIMIT_MS }, "a part was not closed in time and is abandoned"),
        );
      } catch (error) {
        logger.error({ error }, "a part could not be closed");
      }
    }
  }
}
