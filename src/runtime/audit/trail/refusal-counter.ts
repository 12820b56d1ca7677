import { createHash } from "node:crypto";
import { clientNetwork } from "../../peer/ip-address.ts";
import { type AuditEvent, type AuditRepeats, MAX_TEXT, safeText } from "../event/audit-event.ts";

const REGISTERS = 256;
/** Corrects the bias of the estimate for this number of registers (Flajolet and others, 2007). */
const ALPHA = 0.7213 / (1 + 1.079 / REGISTERS);

/** Estimates how many different texts there were, in 256 bytes, within about 7 % (HyperLogLog). */
export class DistinctCount {
  readonly #registers = new Uint8Array(REGISTERS);

  add(text: string): void {
    const hash = createHash("sha256").update(text).digest();
    const index = hash[0] as number;
    const rank = Math.clz32(hash.readUInt32BE(4)) + 1;
    if (rank > (this.#registers[index] as number)) this.#registers[index] = rank;
  }

  get estimate(): number {
    let sum = 0;
    let empty = 0;
    for (const rank of this.#registers) {
      sum += 2 ** -rank;
      if (rank === 0) empty++;
    }
    const raw = (ALPHA * REGISTERS * REGISTERS) / sum;
    // With few texts, the number of empty registers is a better estimate.
    const isFew = raw <= 2.5 * REGISTERS && empty > 0;
    return Math.round(isFew ? REGISTERS * Math.log(REGISTERS / empty) : raw);
  }
}

/** The most resources that a counting event names. */
const MAX_RESOURCES = 20;
/** The most UTF-16 units of a text in its list. */
const MAX_LISTED = 120;

/** A refused call, for counting. */
export interface Refusal {
  /** The event of the call, as it would have been stored. */
  readonly event: AuditEvent;
  readonly resource: string | undefined;
  readonly action: string | undefined;
  readonly address: string;
  /** Who called, as `type:id`. */
  readonly subject: string | undefined;
}

type Listed = AuditRepeats["resources"][number];

/** Counts the refusals after the first one, in bounded memory. */
export class RefusalCounter {
  /** The id of the first one's event. */
  readonly #of: string;
  /** Whether these come from many callers. */
  readonly #isShared: boolean;
  /** The first repeat, whose event becomes the counting event. */
  #base: AuditEvent | undefined;
  #count = 0;
  #first = 0;
  #last = 0;
  readonly #listed = new Map<string, Listed>();
  #isWhole = true;
  readonly #resources = new DistinctCount();
  readonly #callers = new DistinctCount();

  constructor(of: string, isShared: boolean) {
    this.#of = of;
    this.#isShared = isShared;
  }

  get count(): number {
    return this.#count;
  }

  /** When the first repeat arrived, in milliseconds since the epoch. */
  get first(): number {
    return this.#first;
  }

  /** @param event makes the event of the call; called once */
  add(time: number, refusal: Omit<Refusal, "event">, event: () => AuditEvent): void {
    if (this.#count++ === 0) {
      this.#base = event();
      this.#first = time;
    }
    this.#last = time;
    const { resource, action, address, subject } = refusal;
    if (resource !== undefined) this.#resources.add(resource);
    if (this.#isShared) this.#callers.add(subject ?? clientNetwork(address, 48));
    const key = JSON.stringify([resource, address, this.#isShared && subject]);
    if (this.#listed.has(key)) return;
    if (this.#listed.size === MAX_RESOURCES) {
      this.#isWhole = false;
      return;
    }
    this.#listed.set(key, {
      ...(resource === undefined ? {} : { resource: safeText(resource, MAX_LISTED) }),
      ...(action === undefined ? {} : { action: safeText(action, MAX_LISTED) }),
      client_address: safeText(address, MAX_LISTED),
      ...(this.#isShared && subject !== undefined
        ? { subject: safeText(subject, MAX_LISTED) }
        : {}),
    });
  }

  /** Makes the counting event. @param maxText the most UTF-16 units of a text */
  event(state: "pending" | "completed", maxText: number): AuditEvent {
    const { data, subject, ...envelope } = this.#base as AuditEvent;
    const { resource, authz, principal, duration_ms: _, ...facts } = data;
    const isOne = this.#distinct() === 1;
    return {
      ...envelope,
      source: safeText(envelope.source, maxText),
      type: safeText(envelope.type, Math.max(maxText, 128)),
      ...(isOne && subject !== undefined ? { subject: safeText(subject, maxText) } : {}),
      data: {
        ...cut(
          {
            ...facts,
            ...(this.#isShared || principal === undefined ? {} : { principal }),
            ...(isOne && resource !== undefined ? { resource } : {}),
            ...(isOne && !this.#isShared && authz !== undefined ? { authz } : {}),
          },
          maxText,
        ),
        state,
        repeats: this.#repeats(maxText),
      },
    };
  }

  #repeats(maxText: number): AuditRepeats {
    const listed = [...this.#listed.values()];
    return {
      of: this.#of,
      count: this.#count,
      first: new Date(this.#first).toISOString(),
      last: new Date(this.#last).toISOString(),
      distinct_resources: this.#distinct(),
      ...(this.#isShared ? { distinct_callers: this.#callers.estimate } : {}),
      // If the event would be too large they are truncated, and finally only a few examples are
      // kept.
      resources:
        maxText < MAX_TEXT ? cut(listed.slice(0, maxText < 100 ? 4 : 20), maxText / 4) : listed,
    };
  }

  #distinct(): number {
    if (!this.#isWhole) return Math.max(this.#resources.estimate, 1);
    const resources = [...this.#listed.values()].map(({ resource }) => resource);
    return new Set(resources.filter((resource) => resource !== undefined)).size;
  }
}

/** Truncates each text of a value, except those with a fixed form. */
function cut<Value>(value: Value, maxText: number): Value {
  return JSON.parse(JSON.stringify(value), (key, part: unknown) => {
    if (typeof part !== "string" || FIXED.has(key)) return part;
    return safeText(part, Math.max(maxText, 20));
  }) as Value;
}

const FIXED: ReadonlySet<string> = new Set(["rpc", "code", "trace_id"]);
