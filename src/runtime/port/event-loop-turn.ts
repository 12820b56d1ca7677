/**
 * Does what is asked of it in one turn of the event loop at its end, one after the other: a
 * response that is sent at once wakes its client in the middle of the others' work.
 */
export class EventLoopTurn {
  #tasks: (() => void)[] = [];

  /** @param task should not throw: what it throws is reported only by a warning of the process */
  atEnd(task: () => void): void {
    this.#tasks.push(task);
    if (this.#tasks.length === 1) setImmediate(() => this.#run());
  }

  #run(): void {
    const tasks = this.#tasks;
    this.#tasks = [];
    for (const task of tasks) {
      try {
        task();
      } catch (error) {
        // Its call is nobody's any more; those of others go on.
        process.emitWarning(error instanceof Error ? error : String(error));
      }
    }
  }
}
