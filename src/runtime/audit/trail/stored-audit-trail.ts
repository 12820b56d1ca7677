import type { Logger } from "../../../common/logger.ts";
import type { BoundMethod } from "../../binding/bound-method.ts";
import type { Call } from "../../call/call.ts";
import type { AuditRecord, CallAudit } from "../../call/call-context.ts";
import type { AuditTrail, CallEnd } from "../../chain/call-stages.ts";
import { ServiceError } from "../../error/service-error.ts";
import type { RuntimeEvents } from "../../events/runtime-events.ts";
import { clientNetwork } from "../../peer/ip-address.ts";
import { eventId } from "../event/audit-event.ts";
import { checkObject, checkRecord, describeRecord } from "../event/audit-record.ts";
import {
  type AuditedObject,
  auditedObject,
  describeCall,
  type EventSource,
  type Outcome,
} from "../event/describe-call.ts";
import type { EventQueue } from "../tables/event-queue.ts";
import { LastingHandlers } from "./lasting-handlers.ts";
import type { RefusalCounter } from "./refusal-counter.ts";
import { type RefusalSink, RepeatedRefusals, WINDOW_MS } from "./repeated-refusals.ts";
import { type SizedEvent, sizedEvent } from "./sized-event.ts";

/** How long after a call's deadline its outcome may still arrive, in milliseconds. */
const GRACE = 10_000;
/** How long a call without a deadline may take, in milliseconds. */
const LONGEST = 3_600_000;
/** The most events that a handler records of its call. */
const MAX_RECORDS = 100;

/** The event of a call that is under way. */
interface Begun {
  readonly id: string;
  readonly time: number;
  /** The object that the call is about; undefined for the one that was authorized. */
  resource: string | undefined;
  /** Whether the call reached its handler. */
  isLetIn: boolean;
  isCompleted: boolean;
  /** How many further events its handler recorded. */
  records: number;
}

/** Stores the events of calls in a database, and logs each when it is complete. */
export class StoredAuditTrail implements AuditTrail {
  readonly #source: EventSource;
  readonly #queue: EventQueue;
  readonly #logger: Logger;
  readonly #lasting: LastingHandlers;
  readonly #begun = new WeakMap<Call, Begun>();
  readonly #objects = new Map<BoundMethod, AuditedObject | undefined>();

  readonly #events: RuntimeEvents;
  readonly #refusals: RepeatedRefusals;
  #isClosed = false;

  constructor(source: EventSource, queue: EventQueue, logger: Logger, events: RuntimeEvents) {
    this.#source = source;
    this.#queue = queue;
    this.#logger = logger;
    this.#events = events;
    this.#refusals = new RepeatedRefusals(this.#sink);
    this.#lasting = new LastingHandlers((row) => queue.extend(row));
  }

  begin(call: Call): void | Promise<void> {
    const event = this.#eventOf(call);
    // The deadline passed during authorization, and the caller has its response.
    if (event.isCompleted) throw call.abortReason ?? new ServiceError("CANCELLED");
    event.isLetIn = true;
    if (!call.method.isWrite) return undefined;
    return this.#queue.intent(this.#sized(call, event, expiryOf(call), undefined).row);
  }

  complete(
    call: Call,
    error: ServiceError | undefined,
    answer?: CallEnd,
    isCutOff = false,
  ): void | Promise<void> {
    if (call.method.policy.audit === undefined) return undefined;
    const begun = this.#eventOf(call);
    if (begun.isCompleted) return undefined;
    begun.isCompleted = true;
    this.#lasting.remove(begun.id);
    const outcome = { error, isCutOff, durationMs: performance.now() - call.startedAt };
    const sized = () => this.#sized(call, begun, begun.time, outcome, answer);
    if (error !== undefined && mayBeCounted(call, begun)) {
      if (this.#count(call, begun, error, sized)) return undefined;
    }
    return this.#store(sized());
  }

  outlast(call: Call, answer: CallEnd): void {
    const begun = this.#eventOf(call);
    const { row } = this.#sized(call, begun, expiryOf(call), undefined, answer);
    this.#lasting.add(row, call.method.isWrite);
  }

  readonly auditOf = (call: Call): CallAudit => {
    return {
      setResource: (resource) => this.#setResource(call, resource),
      record: async (record) => this.#record(call, record),
    };
  };

  /** Resolves once no handler runs whose call is over. */
  settled(): Promise<void> {
    return this.#lasting.none();
  }

  /** Does not wait for running handlers: their outcome is `unknown`. Series of refusals end. */
  close(): Promise<void> {
    this.#isClosed = true;
    this.#refusals.close();
    return this.#lasting.close();
  }

  #setResource(call: Call, resource: string): void {
    checkObject(resource);
    if (call.method.policy.audit === undefined) return;
    const begun = this.#eventOf(call);
    if (begun.isCompleted) {
      throw new Error(`the object of ${call.rpc} comes too late: its audit event is complete`);
    }
    begun.resource = resource;
  }

  #record(call: Call, record: AuditRecord): void | Promise<void> {
    const details = checkRecord(record);
    // Events are no longer stored, so `record` must not appear to succeed.
    if (this.#isClosed) {
      throw new Error(`the audit event ${record.event} comes too late: the server has ended`);
    }
    const begun = this.#eventOf(call);
    if (begun.records === MAX_RECORDS) {
      throw new RangeError(
        `${call.rpc} has recorded ${MAX_RECORDS} audit events in one call, which is the maximum`,
      );
    }
    begun.records++;
    const time = Date.now();
    const callEvent = call.method.policy.audit === undefined ? undefined : begun.id;
    const described = { record, details, id: eventId(time), time, callEvent };
    const sized = sizedEvent(time, time, (maxText) =>
      describeRecord(this.#source, call, described, maxText),
    );
    return record.mustBeStored === true ? this.#storeNow(sized) : this.#store(sized);
  }

  async #storeNow({ event, row }: SizedEvent): Promise<void> {
    await this.#queue.required(row);
    this.#logger.info({ audit: event }, "audit");
  }

  #store({ event, row }: SizedEvent): void | Promise<void> {
    this.#logger.info({ audit: event }, "audit");
    return this.#queue.outcome(row);
  }

  /** @returns whether the refusal was counted with earlier ones */
  #count(call: Call, begun: Begun, { code }: ServiceError, sized: () => SizedEvent): boolean {
    const { principal, clientAddress: address, method } = call;
    const subject =
      principal === undefined ? undefined : `${principal.subjectType}:${principal.subjectId}`;
    const isKnown = subject !== undefined;
    // For IPv6 a site, which has 65,536 networks of its own.
    const key = { rpc: call.rpc, code, caller: subject ?? clientNetwork(address, 48), isKnown };
    const resource = begun.resource ?? call.resource;
    const refusal = { resource, action: method.policy.authz?.action, address, subject };
    const isCounted = this.#refusals.count(key, begun.id, refusal, () => sized().event);
    if (isCounted) this.#events.audit("coalesced");
    return isCounted;
  }

  readonly #sink: RefusalSink = {
    began: (counter) => {
      const expires = Date.now() + WINDOW_MS + GRACE;
      void this.#queue.extend(countingEvent(counter, "pending", expires).row);
    },
    closed: (counter) => void this.#store(countingEvent(counter, "completed", counter.first)),
  };

  #sized(
    call: Call,
    { id, time, resource }: Begun,
    expires: number,
    outcome: Outcome | undefined,
    answer?: CallEnd,
  ): SizedEvent {
    return sizedEvent(time, expires, (maxText) =>
      describeCall(this.#source, call, id, time, outcome, { answer, resource, maxText }),
    );
  }

  #eventOf(call: Call): Begun {
    let begun = this.#begun.get(call);
    if (begun === undefined) {
      const time = Math.round(Date.now() - (performance.now() - call.startedAt));
      // Now: the handler may change the request.
      const resource = this.#objectOf(call.method)?.(call);
      begun = { id: eventId(time), time, resource, isLetIn: false, isCompleted: false, records: 0 };
      this.#begun.set(call, begun);
    }
    return begun;
  }

  #objectOf(method: BoundMethod): AuditedObject | undefined {
    let object = this.#objects.get(method);
    if (object === undefined && !this.#objects.has(method)) {
      object = auditedObject(method);
      this.#objects.set(method, object);
    }
    return object;
  }
}

/**
 * Whether a call may be counted with others of its caller: it ended before its handler. This
 * includes failures of the server: a caller without any permission can cause them at will, for
 * example with a deadline that passes before its request has arrived. Calls that were allowed,
 * CRITICAL or made by a service have events of their own.
 */
function mayBeCounted({ method, decision, principal }: Call, begun: Begun): boolean {
  return (
    !begun.isLetIn &&
    decision !== "allowed" &&
    method.policy.audit?.riskLevel !== "CRITICAL" &&
    principal?.subjectType !== "service"
  );
}

function countingEvent(
  counter: RefusalCounter,
  state: "pending" | "completed",
  expires: number,
): SizedEvent {
  return sizedEvent(counter.first, expires, (maxText) => counter.event(state, maxText));
}

function expiryOf({ deadline }: Call): number {
  return (Number.isFinite(deadline) ? deadline : Date.now() + LONGEST) + GRACE;
}
