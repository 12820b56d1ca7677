/**
 * Runs the tasks of one turn of the event loop at its end, one after the other: a response that is
 * sent at once would wake its client in the middle of the others' work.
 */
export class EventLoopTurn {
  #tasks: (() => void)[] = [];

  /** @param task should not throw: its errors are only reported as a process warning */
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
        // Its call is abandoned; other calls continue.
        process.emitWarning(error instanceof Error ? error : String(error));
      }
    }
  }
}
