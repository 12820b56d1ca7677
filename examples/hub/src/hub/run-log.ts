import { EventEmitter, once } from "node:events";
import { create } from "@bufbuild/protobuf";
import { timestampNow } from "@bufbuild/protobuf/wkt";
import { ServiceError } from "svc-access/runtime";
import { type LogLine, LogLineSchema } from "../../gen/hub/projects/v1/project_service_pb.ts";
import type { Collection, Store } from "../store.ts";

const MAX_LINE = 16 * 1024;
/** How many lines are read from the store at once. */
const BATCH = 100;

/** What runs log. */
export class RunLog {
  readonly #store: Store;
  readonly #lines: Collection<LogLine>;
  /** Emits the id of a run that has changed. */
  readonly #changes = new EventEmitter().setMaxListeners(0);

  constructor(store: Store) {
    this.#store = store;
    this.#lines = store.collection("log_line", LogLineSchema);
  }

  /** Adds lines, all or none. */
  append(runId: string, lines: readonly LogLine[]): void {
    if (lines.some(({ text }) => text.length > MAX_LINE)) {
      throw new ServiceError("INVALID_ARGUMENT", `a line has at most ${MAX_LINE} characters`);
    }
    this.#store.transaction(() => {
      for (const line of lines) {
        const key = String(this.#store.nextNumber("log_line")).padStart(19, "0");
        const dated = create(LogLineSchema, { ...line, time: line.time ?? timestampNow() });
        this.#lines.put(key, dated, runId);
      }
    });
    this.changed(runId);
  }

  delete(runId: string): void {
    this.#lines.deleteBelow(runId);
    this.changed(runId);
  }

  /** Notifies those who follow a run to look again. */
  changed(runId: string): void {
    this.#changes.emit(runId);
  }

  /** The lines of a run, including later ones, until it ends. */
  async *follow(
    runId: string,
    goesOn: () => boolean,
    signal: AbortSignal,
  ): AsyncGenerator<LogLine> {
    const left = new AbortController();
    const end = AbortSignal.any([signal, left.signal]);
    try {
      for (let after = ""; ; ) {
        // Listens and asks before it reads, so that nothing falls in between.
        const change = once(this.#changes, runId, { signal: end });
        change.catch(() => undefined);
        const isLast = !goesOn();
        let lines: [string, LogLine][];
        do {
          lines = this.#lines.list({ parent: runId, after, limit: BATCH });
          for (const [key, line] of lines) {
            yield line;
            after = key;
          }
        } while (lines.length > 0);
        if (isLast) return;
        await change;
      }
    } finally {
      left.abort();
    }
  }
}
