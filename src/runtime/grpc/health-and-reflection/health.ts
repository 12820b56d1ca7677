import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { ServiceError } from "../../error/service-error.ts";
import { type BuiltInLimits, CallQuota } from "./built-in-limits.ts";
import type { BuiltInExchange, BuiltInMethod } from "./built-in-method.ts";

/** The answers, by the names of `grpc.health.v1.HealthCheckResponse.ServingStatus`. */
const SERVING = encodeResponse(1);
const NOT_SERVING = encodeResponse(2);
const SERVICE_UNKNOWN = encodeResponse(3);

/**
 * The service `grpc.health.v1.Health`. It does not use `grpc-health-check`, whose watchers never
 * end, so that a server could not drain, which gets each change pushed instead of reading the
 * state, and which reads a .proto file at run time. All services of a process have its readiness,
 * and so has the name `""`, which stands for the process.
 *
 * @param services full service names
 */
export function healthMethods(
  services: Iterable<string>,
  isReady: () => boolean,
  limits: BuiltInLimits,
): readonly BuiltInMethod[] {
  const known = new Set(["", ...services]);
  const statusOf = (service: string): StatusMessage => {
    if (!known.has(service)) return SERVICE_UNKNOWN;
    return isReady() ? SERVING : NOT_SERVING;
  };
  const watchers = new HealthWatchers(isReady);
  return [
    {
      path: "/grpc.health.v1.Health/Check",
      async serve(exchange, call) {
        const status = statusOf(decodeRequest(await exchange.reader().single()));
        call.received();
        if (status === SERVICE_UNKNOWN) {
          throw new ServiceError("RESOURCE_NOT_FOUND", "the service is not served here");
        }
        await exchange.reply(status);
      },
    },
    {
      path: "/grpc.health.v1.Health/Watch",
      quota: new CallQuota({
        what: "health watchers",
        most: limits.watchers,
        mostOfConnection: limits.watchersOfConnection,
        milliseconds: limits.streamMs,
      }),
      async serve(exchange, call) {
        const service = decodeRequest(await exchange.reader().single());
        call.received();
        // An unknown name comes from the client and may have any length: it is not kept.
        const name = known.has(service) ? service : undefined;
        await watchers.watch(exchange, call.signal, () =>
          name === undefined ? SERVICE_UNKNOWN : statusOf(name),
        );
      },
    },
  ];
}

/** `HealthCheckRequest.service`. */
function decodeRequest(data: Uint8Array): string {
  let service = "";
  try {
    const reader = new BinaryReader(data);
    while (reader.pos < reader.len) {
      const [field, type] = reader.tag();
      if (field === 1 && type === WireType.LengthDelimited) service = reader.string();
      else reader.skip(type, field);
    }
  } catch (error) {
    throw new ServiceError("INVALID_ARGUMENT", "the request is not a valid HealthCheckRequest", {
      cause: error,
    });
  }
  return service;
}

/** `HealthCheckResponse.status`. */
function encodeResponse(status: number): Uint8Array {
  return new BinaryWriter().tag(1, WireType.Varint).int32(status).finish();
}

/** How often watchers are notified of a change at most. */
const WATCH_INTERVAL_MS = 500;

/**
 * How many are notified of a change in one turn of the event loop, which takes some milliseconds.
 */
const PORTION = 128;

/** The messages for watchers, as bytes: always the same object for the same status. */
export type StatusMessage = Uint8Array;

/**
 * The health watchers. One timer serves all of them; while nothing changes it only reads the state.
 */
class HealthWatchers {
  readonly #isReady: () => boolean;
  readonly #watchers = new Set<Watcher>();
  #timer: NodeJS.Timeout | undefined;
  /** The status that all watchers have got, or are getting. */
  #wasReady = false;

  constructor(isReady: () => boolean) {
    this.#isReady = isReady;
  }

  /**
   * Yields the current status, then each change, until the signal aborts: then a last change, and
   * rejects with its reason.
   */
  async watch(
    exchange: BuiltInExchange,
    signal: AbortSignal,
    status: () => StatusMessage,
  ): Promise<never> {
    const watcher = new Watcher(exchange, signal, status);
    this.#look();
    // One timer while there are any watchers.
    this.#timer ??= setInterval(() => this.#look(), WATCH_INTERVAL_MS).unref();
    this.#watchers.add(watcher);
    try {
      await new Promise<void>((resolve, reject) => {
        signal.addEventListener("abort", () => resolve());
        watcher.onError = reject;
        watcher.notify();
        if (signal.aborted) resolve();
      });
      watcher.notify();
      throw signal.reason;
    } finally {
      this.#watchers.delete(watcher);
      if (this.#watchers.size === 0) {
        clearInterval(this.#timer);
        this.#timer = undefined;
      }
    }
  }

  #look(): void {
    const isReady = this.#isReady();
    if (isReady === this.#wasReady) return;
    this.#wasReady = isReady;
    notifyInPortions(this.#watchers.values());
  }
}

function notifyInPortions(watchers: Iterator<Watcher, undefined>): void {
  for (let count = 0; count < PORTION; count++) {
    const { value } = watchers.next();
    if (value === undefined) return;
    value.notify();
  }
  setImmediate(() => notifyInPortions(watchers));
}

class Watcher {
  onError: (error: unknown) => void = () => undefined;
  readonly #exchange: BuiltInExchange;
  readonly #signal: AbortSignal;
  readonly #status: () => StatusMessage;
  #sent: StatusMessage | undefined;
  #isNotifying = false;

  constructor(exchange: BuiltInExchange, signal: AbortSignal, status: () => StatusMessage) {
    this.#exchange = exchange;
    this.#signal = signal;
    this.#status = status;
  }

  /** Sends changes. A client that does not read changes in time gets only the last one. */
  notify(): void {
    if (!this.#isNotifying) this.#notifyAll().catch(this.onError);
  }

  async #notifyAll(): Promise<void> {
    this.#isNotifying = true;
    for (let now = this.#status(); now !== this.#sent; now = this.#status()) {
      this.#sent = now;
      await this.#exchange.send(now, () => this.#signal);
    }
    this.#isNotifying = false;
  }
}
