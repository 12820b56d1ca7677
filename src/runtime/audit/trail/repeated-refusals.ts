import type { AuditEvent } from "../event/audit-event.ts";
import { type Refusal, RefusalCounter } from "./refusal-counter.ts";

/** The period of the budget of a caller, in milliseconds. */
const BUDGET_WINDOW_MS = 60_000;

/** How many series of refusals a kind of caller may begin. */
export interface RefusalLimits {
  /** Open at the same time; each is a few KiB at the most. */
  readonly open: number;
  /** Begun by one caller in a minute. */
  readonly perCaller: number;
  /** Begun by all of them in a minute. */
  readonly perMinute: number;
}

interface Used {
  count: number;
  /** Of `performance.now()`. */
  readonly until: number;
}

/**
 * Decides which callers may begin a series of their own, by the number of series begun in this
 * minute. Each caller has a budget of its own, so that it does not use up that of others. Each
 * remembered caller has begun a series, so `perMinute` bounds their number too.
 */
export class RefusalBudget {
  readonly #limits: RefusalLimits;
  /** The oldest first. */
  readonly #callers = new Map<string, Used>();
  #all: Used = { count: 0, until: 0 };

  constructor(limits: RefusalLimits) {
    this.#limits = limits;
  }

  /** Whether a caller may begin one more, which then counts. */
  take(caller: string, now: number): boolean {
    const { perCaller, perMinute } = this.#limits;
    for (const [name, { until }] of this.#callers) {
      if (until > now) break;
      this.#callers.delete(name);
    }
    if (this.#all.until <= now) this.#all = { count: 0, until: now + BUDGET_WINDOW_MS };
    const used = this.#callers.get(caller) ?? { count: 0, until: now + BUDGET_WINDOW_MS };
    if (used.count >= perCaller || this.#all.count >= perMinute) return false;
    if (used.count++ === 0) this.#callers.set(caller, used);
    this.#all.count++;
    return true;
  }
}

/** For how long refusals are counted together, in milliseconds. */
export const WINDOW_MS = 60_000;

/**
 * Authenticated callers need an account, so the first refusal of each on an RPC is an event, and if
 * too many series are open the oldest ends early. One caller has at most 200 a minute, so about
 * fifty accounts have to work together before those of others are counted by RPC.
 */
const KNOWN: RefusalLimits = { open: 2000, perCaller: 200, perMinute: 10_000 };
/** Addresses are cheap: they have a budget of their own, and beyond it are counted by RPC. */
const UNKNOWN: RefusalLimits = { open: 500, perCaller: 50, perMinute: 1000 };

/** A series of refusals that is open. */
interface Series {
  readonly counter: RefusalCounter;
  /** Of `performance.now()`. */
  readonly closesAt: number;
}

/** The callbacks of a series. */
export interface RefusalSink {
  /** The first repeat has arrived: this is stored in case the process dies. */
  began(counter: RefusalCounter): void;
  closed(counter: RefusalCounter): void;
}

/** The caller of a refusal. */
export interface RefusalKey {
  readonly rpc: string;
  readonly code: string;
  readonly caller: string;
  /** Whether the caller was authenticated; else `caller` is where it called from. */
  readonly isKnown: boolean;
}

/** The series of one kind of callers, the oldest first: all are open for the same time. */
interface Kind {
  readonly own: Map<string, Series>;
  readonly shared: Map<string, Series>;
  readonly limits: RefusalLimits;
  readonly budget: RefusalBudget;
}

/**
 * Counts refusals that repeat: the first of a caller on an RPC is an event of its own, and those
 * of the next minute are one. So a caller without any permission cannot fill the store, and cannot
 * hide the refusals of others among its own.
 */
export class RepeatedRefusals {
  readonly #sink: RefusalSink;
  readonly #known = kindOf(KNOWN);
  readonly #unknown = kindOf(UNKNOWN);
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(sink: RefusalSink) {
    this.#sink = sink;
  }

  /**
   * Counts a refusal, unless it is the first of its series.
   *
   * @param id that of its event
   * @param event makes its event; called if it begins a counting event
   * @returns whether it was counted, and is to have no event of its own
   */
  count(
    { rpc, code, caller, isKnown }: RefusalKey,
    id: string,
    refusal: Omit<Refusal, "event">,
    event: () => AuditEvent,
  ): boolean {
    if (this.#isClosed) return false;
    const kind = isKnown ? this.#known : this.#unknown;
    const own = JSON.stringify([rpc, code, caller]);
    const all = JSON.stringify([rpc, code]);
    let series = kind.own.get(own);
    if (series === undefined && this.#mayOpen(kind, caller, isKnown)) {
      this.#open(kind.own, own, new RefusalCounter(id, false));
      return false;
    }
    series ??= kind.shared.get(all);
    if (series === undefined) {
      this.#open(kind.shared, all, new RefusalCounter(id, true));
      return false;
    }
    const { counter } = series;
    counter.add(Date.now(), refusal, event);
    if (counter.count === 1) this.#sink.began(counter);
    return true;
  }

  /** Closes all, and counts no more. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    for (const map of this.#maps()) for (const [key, series] of map) this.#end(map, key, series);
  }

  /**
   * Whether there is room for one more series of one caller; for known callers the oldest is
   * closed.
   */
  #mayOpen({ own, limits, budget }: Kind, caller: string, isKnown: boolean): boolean {
    const isFull = own.size >= limits.open;
    if (isFull && !isKnown) return false;
    if (!budget.take(caller, performance.now())) return false;
    const [oldest] = isFull ? own : [];
    if (oldest !== undefined) this.#end(own, ...oldest);
    return true;
  }

  #open(map: Map<string, Series>, key: string, counter: RefusalCounter): void {
    map.set(key, { counter, closesAt: performance.now() + WINDOW_MS });
    this.#timer ??= setTimeout(() => this.#look(), WINDOW_MS).unref();
  }

  #look(): void {
    this.#timer = undefined;
    const now = performance.now();
    let next = Number.POSITIVE_INFINITY;
    for (const map of this.#maps()) {
      for (const [key, series] of map) {
        const rest = series.closesAt - now;
        if (rest > 0) {
          next = Math.min(next, rest);
          break;
        }
        this.#end(map, key, series);
      }
    }
    if (next < Number.POSITIVE_INFINITY) {
      this.#timer = setTimeout(() => this.#look(), Math.ceil(next)).unref();
    }
  }

  #maps(): readonly Map<string, Series>[] {
    return [this.#known, this.#unknown].flatMap(({ own, shared }) => [own, shared]);
  }

  #end(map: Map<string, Series>, key: string, { counter }: Series): void {
    map.delete(key);
    if (counter.count > 0) this.#sink.closed(counter);
  }
}

function kindOf(limits: RefusalLimits): Kind {
  return { own: new Map(), shared: new Map(), limits, budget: new RefusalBudget(limits) };
}
