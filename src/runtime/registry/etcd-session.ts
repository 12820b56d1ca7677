import { setTimeout as sleep } from "node:timers/promises";
import type { Etcd3 } from "etcd3";
import { within } from "../operation/within.ts";

/** Work on etcd that is begun anew, on a new connection, whenever it fails. */
export interface SessionWork {
  readonly connect: () => Etcd3;
  /**
   * Works until the signal aborts, or throws.
   *
   * @param established - to be called once etcd has answered
   */
  readonly run: (client: Etcd3, established: () => void, signal: AbortSignal) => Promise<void>;
  /** The work has failed, and is tried again. */
  readonly lost: (error: unknown, wasEstablished: boolean) => void;
}

const FIRST_DELAY_MS = 200;
const LAST_DELAY_MS = 10_000;
const CLOSE_MS = 2000;

/**
 * Keeps work going until the signal aborts. Each try has a client of its own: what a
 * client remembers of an etcd that has gone (tokens, streams) is of no use with the next.
 */
export async function keepSession(work: SessionWork, signal: AbortSignal): Promise<void> {
  let delay = FIRST_DELAY_MS;
  while (!signal.aborted) {
    let isEstablished = false;
    let client: Etcd3 | undefined;
    try {
      client = work.connect();
      await work.run(
        client,
        () => {
          isEstablished = true;
          delay = FIRST_DELAY_MS;
        },
        signal,
      );
    } catch (error) {
      if (!signal.aborted) work.lost(error, isEstablished);
    } finally {
      client?.close();
    }
    if (signal.aborted) return;
    // Not all instances come back at the same moment.
    await sleep(delay * (0.5 + Math.random()), undefined, { signal }).catch(() => undefined);
    delay = Math.min(delay * 2, LAST_DELAY_MS);
  }
}

/** Waits for work that was told to end, but not for an etcd that does not answer. */
export async function settledSoon(work: Promise<void>): Promise<void> {
  await within(work, CLOSE_MS, () => undefined);
}
