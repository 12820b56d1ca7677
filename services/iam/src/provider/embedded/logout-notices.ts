import { WorkQueue } from "../../ground/queue/work-queue.ts";
import type { ProviderLog } from "./embedded-options.ts";

/**
 * How many notices are sent at once to one client. There is no limit for all of them, which clients that do not answer
 * would use up: their number is that of the configuration.
 */
const AT_ONCE_PER_CLIENT = 4;
/** How many wait for their turn at one client: clients that do not answer must not fill the memory. */
const MOST_WAITING_PER_CLIENT = 1000;
/**
 * How long the end of the process waits: longer than one notice takes, and shorter than the 5 seconds in which the
 * server closes everything.
 */
const CLOSING_MS = 4000;

/** Notifies clients of sessions that have ended, later than the responses to the calls that have ended them. */
export class LogoutNotices {
  /** By the id of the client: no more than there are clients with an address for notices. */
  readonly #queues = new Map<string, WorkQueue>();
  readonly #log: Pick<ProviderLog, "warn">;
  readonly #left = new Set<Promise<void>>();
  #isClosed = false;

  constructor(log: Pick<ProviderLog, "warn">) {
    this.#log = log;
  }

  /**
   * Sends a notice when it is its turn. It never fails: what is not sent is in the log, such as what comes when too
   * much waits for the same client, or after `close`.
   *
   * @param send ends in a limited time
   */
  add(clientId: string, send: () => Promise<void>): void {
    if (this.#isClosed) return this.failed(clientId, new Error("the service stops"));
    const sent = this.#queueOf(clientId)
      .run(send)
      .catch((error: unknown) => this.failed(clientId, error))
      .finally(() => this.#left.delete(sent));
    this.#left.add(sent);
  }

  /** Logs that a client was not notified. */
  failed(clientId: string, error: unknown): void {
    this.#log.warn({ error, client: clientId }, "a client was not notified of a logout");
  }

  /** Waits for what is left and what is added meanwhile, for a few seconds. Then it takes no more. */
  async close(): Promise<void> {
    let isLate = false;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(() => {
        isLate = true;
        resolve();
      }, CLOSING_MS);
    });
    while (this.#left.size > 0 && !isLate) await Promise.race([Promise.all(this.#left), late]);
    clearTimeout(timer);
    this.#isClosed = true;
    const { size } = this.#left;
    if (size === 0) return;
    this.#log.warn(
      { notices: size },
      "the service stops before it has sent all notices of logouts",
    );
  }

  #queueOf(clientId: string): WorkQueue {
    const known = this.#queues.get(clientId);
    if (known !== undefined) return known;
    const queue = new WorkQueue(AT_ONCE_PER_CLIENT, MOST_WAITING_PER_CLIENT);
    this.#queues.set(clientId, queue);
    return queue;
  }
}
