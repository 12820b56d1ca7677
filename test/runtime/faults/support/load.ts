import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import { IS_THOROUGH, runs } from "../../../support/effort.ts";
import { until } from "../../../support/until.ts";
import {
  ALICE,
  type Caller,
  type Credentials,
  grpcCaller,
  HEALTHY,
  httpCaller,
  KINDS,
  type Kind,
  requestOf,
} from "./calls.ts";

/** The outcome of a call, and the phases in which it began and ended: an independent record. */
export interface Answer {
  readonly kind: Kind;
  readonly transport: string;
  readonly requestId: string;
  readonly status: number;
  readonly began: string;
  readonly ended: string;
}

/** Differences from the usual load. */
export interface LoadOptions {
  readonly kinds?: readonly Kind[];
  /** The number of callers of each kind over each transport. */
  readonly width?: number;
  readonly credentials?: Credentials;
  /** The content of a write. */
  readonly textOf?: (requestId: string) => string;
}

/** The number of responses of each kind over each transport in a phase. */
const PER_PHASE = runs(15, 5);
/** Refusals are immediate: without a pause they would use the whole machine, and a developer's has other work. */
const PAUSE = IS_THOROUGH ? 10 : 40;
let loads = 0;

/** Endless calls of all kinds, over HTTP and gRPC concurrently. */
export class Load {
  readonly answers: Answer[] = [];
  readonly #kinds: readonly Kind[];
  readonly #workers: Promise<void>[] = [];
  readonly #close: (() => void)[] = [];
  readonly #counts = new Map<string, number>();
  #phase = "before";
  #stopped = false;

  constructor(ports: { http: number; grpc: number }, options: LoadOptions = {}) {
    const { width = 1, credentials = ALICE, textOf = (id: string) => id } = options;
    this.#kinds = options.kinds ?? KINDS;
    const name = `load${++loads}-${process.pid}`;
    for (const transport of ["http", "grpc"] as const) {
      const { call, close } = (transport === "http" ? httpCaller : grpcCaller)(ports[transport]);
      this.#close.push(close);
      for (const kind of this.#kinds) {
        for (let worker = 0; worker < width; worker++) {
          const prefix = `${name}-${transport}-${kind.replaceAll(" ", "-")}-${worker}`;
          const next = (id: string) => requestOf(kind, textOf(id), credentials);
          this.#workers.push(this.#work(call, kind, transport, prefix, next));
        }
      }
    }
  }

  /** Begins a phase, and resolves when it has enough responses of all kinds of calls. */
  async phase(name: string, count = PER_PHASE): Promise<void> {
    this.#phase = name;
    const wanted = ["http", "grpc"].flatMap((transport) =>
      this.#kinds.map((kind) => `${name} ${transport} ${kind}`),
    );
    const isMissing = (key: string) => (this.#counts.get(key) ?? 0) < count;
    await until(
      () => `${count} answers of each: ${wanted.filter(isMissing).join(", ")}`,
      () => !wanted.some(isMissing),
    );
    this.#phase = `after ${name}`;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#workers);
    for (const close of this.#close) close();
  }

  /** The statuses of a kind in a phase, without calls that began before it or ended after it. */
  statuses(phase: string, kind: Kind): number[] {
    const within = this.answers.filter(
      (one) => one.kind === kind && one.began === phase && one.ended === phase,
    );
    return [...new Set(within.map(({ status }) => status))].sort();
  }

  /** Expects that every response of a phase is that of a service without faults, except for the given ones. */
  expectPhase(phase: string, others: Partial<Record<Kind, readonly number[]>> = {}): void {
    for (const kind of this.#kinds) {
      const allowed = others[kind] ?? [HEALTHY[kind]];
      const statuses = this.statuses(phase, kind);
      expect(statuses.length, `answers of ${kind} ${phase}`).toBeGreaterThan(0);
      for (const status of statuses) expect(allowed, `${kind} ${phase}`).toContain(status);
    }
  }

  /** Expects that every response of the whole load was correct or reported unavailability. */
  expectNoWrongAnswer(others: readonly number[] = [503, 504]): void {
    for (const { kind, status, requestId } of this.answers) {
      if (status !== HEALTHY[kind]) expect(others, `${kind} ${requestId}`).toContain(status);
    }
  }

  /** The request ids of the audited calls with this status. */
  audited(status: (status: number) => boolean = () => true): string[] {
    return this.answers
      .filter((one) => one.kind.endsWith("write") && status(one.status))
      .map(({ requestId }) => requestId);
  }

  async #work(
    call: Caller,
    kind: Kind,
    transport: string,
    prefix: string,
    next: (id: string) => ReturnType<typeof requestOf>,
  ): Promise<void> {
    for (let number = 0; !this.#stopped; number++) {
      const requestId = `${prefix}-${number}`;
      const began = this.#phase;
      const status = await call(next(requestId), requestId);
      const ended = this.#phase;
      this.answers.push({ kind, transport, requestId, status, began, ended });
      if (began === ended) {
        const key = `${began} ${transport} ${kind}`;
        this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
      }
      await sleep(PAUSE);
    }
  }
}
