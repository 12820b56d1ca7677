/**
 * Runs the tasks of one turn of the event loop at its end, one after the other: a response that is
 * sent at once would wake its client in the middle of the others' work. The response of the only call
 * that waits for one disturbs no other, and is not delayed.
 */
export class EventLoopTurn {
  #tasks: (() => void)[] = [];
  #waiting = 0;

  /** A call begins to wait for its response. */
  enter(): void {
    this.#waiting++;
  }

  /** A call no longer waits. */
  leave(): void {
    this.#waiting--;
  }

  /**
   * Runs a task at the end of the turn, or now if one call waits and no task does.
   *
   * @param task should not throw: its errors are only reported as a process warning
   */
  atEnd(task: () => void): void {
    if (this.#waiting === 1 && this.#tasks.length === 0) return attempt(task);
    this.#tasks.push(task);
    if (this.#tasks.length === 1) setImmediate(() => this.#run());
  }

  #run(): void {
    const tasks = this.#tasks;
    this.#tasks = [];
    for (const task of tasks) attempt(task);
  }
}

/** Runs a task after some turns of the event loop. */
export function afterTurns(turns: number, task: () => void): void {
  if (turns <= 1) setImmediate(task);
  else setImmediate(afterTurns, turns - 1, task);
}

function attempt(task: () => void): void {
  try {
    task();
  } catch (error) {
    // Its call is abandoned; other calls continue.
    process.emitWarning(error instanceof Error ? error : String(error));
  }
}
