import type { Call } from "../call/call.ts";
import type { AuditTrail, CallEnd } from "../chain/call-stages.ts";
import { ServiceError } from "../error/service-error.ts";
import type { Logger } from "../operation/logger.ts";
import { rowOf } from "./audit-table.ts";
import { describeCall, type EventSource } from "./describe-call.ts";
import { eventId } from "./event-id.ts";
import type { EventQueue } from "./event-queue.ts";
import { LastingHandlers } from "./lasting-handlers.ts";

/** How long after a call's deadline its outcome may still come, in milliseconds. */
const GRACE = 10_000;
/** How long a call without a deadline may take, in milliseconds. */
const LONGEST = 3_600_000;

/** The event of a call that is under way. */
interface Begun {
  readonly id: string;
  readonly time: number;
  isCompleted: boolean;
}

/** Keeps the events of calls in a database, and logs each when it is complete. */
export class StoredAuditTrail implements AuditTrail {
  readonly #source: EventSource;
  readonly #queue: EventQueue;
  readonly #logger: Logger;
  readonly #lasting: LastingHandlers;
  readonly #begun = new WeakMap<Call, Begun>();

  constructor(source: EventSource, queue: EventQueue, logger: Logger) {
    this.#source = source;
    this.#queue = queue;
    this.#lasting = new LastingHandlers((row) => queue.extend(row));
    this.#logger = logger;
  }

  begin(call: Call): void | Promise<void> {
    const event = this.#eventOf(call);
    // Its time was up while it was authorized, and the caller has its answer.
    if (event.isCompleted) throw call.abortReason ?? new ServiceError("CANCELLED");
    if (!call.method.isWrite) return undefined;
    const intent = describeCall(this.#source, call, event.id, event.time, undefined);
    return this.#queue.intent(rowOf(intent, event.time, expiryOf(call)));
  }

  complete(call: Call, error: ServiceError | undefined, answer?: CallEnd): void | Promise<void> {
    if (call.method.policy.audit === undefined) return undefined;
    const event = this.#eventOf(call);
    if (event.isCompleted) return undefined;
    event.isCompleted = true;
    this.#lasting.remove(event.id);
    const durationMs = performance.now() - call.startedAt;
    const outcome = { error, durationMs };
    const completed = describeCall(this.#source, call, event.id, event.time, outcome, answer);
    this.#logger.info({ audit: completed }, "audit");
    return this.#queue.outcome(rowOf(completed, event.time, event.time));
  }

  outlast(call: Call, answer: CallEnd): void {
    const event = this.#eventOf(call);
    const pending = describeCall(this.#source, call, event.id, event.time, undefined, answer);
    this.#lasting.add(rowOf(pending, event.time, expiryOf(call)), call.method.isWrite);
  }

  /** Resolves once no handler runs whose call is over. */
  settled(): Promise<void> {
    return this.#lasting.none();
  }

  /** Handlers that run now are not waited for: what they do is `unknown`. */
  close(): Promise<void> {
    return this.#lasting.close();
  }

  #eventOf(call: Call): Begun {
    let begun = this.#begun.get(call);
    if (begun === undefined) {
      const time = Math.round(Date.now() - (performance.now() - call.startedAt));
      begun = { id: eventId(time), time, isCompleted: false };
      this.#begun.set(call, begun);
    }
    return begun;
  }
}

function expiryOf({ deadline }: Call): number {
  return (Number.isFinite(deadline) ? deadline : Date.now() + LONGEST) + GRACE;
}
