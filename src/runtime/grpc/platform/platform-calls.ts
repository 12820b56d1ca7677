import { Deadlines } from "../../chain/deadlines.ts";
import { ServiceError } from "../../error/service-error.ts";
import { toServiceError } from "../../error/to-service-error.ts";
import { shuttingDown } from "../../server/shutting-down.ts";
import type { GrpcExchange } from "../grpc-exchange.ts";
import { PlatformCall } from "./platform-call.ts";
import type { PlatformLimits } from "./platform-limits.ts";
import type { PlatformMethod } from "./platform-method.ts";

/** The calls of the platform's own RPCs: none goes on for ever, and no number of them costs more than some. */
export class PlatformCalls {
  readonly #limits: PlatformLimits;
  readonly #request: Deadlines;
  readonly #underWay = new Set<PlatformCall>();
  /** Those of which no message has come, in the order in which they came. */
  readonly #unheard = new Set<PlatformCall>();
  #isDraining = false;

  constructor(limits: PlatformLimits) {
    this.#limits = limits;
    this.#request = new Deadlines(limits.requestMs);
  }

  /** Answers a call, to its status. Does not reject. */
  async serve({ places, serve }: PlatformMethod, exchange: GrpcExchange): Promise<void> {
    const call: PlatformCall = new PlatformCall(exchange, places, () => {
      this.#underWay.delete(call);
      this.#unheard.delete(call);
    });
    exchange.whenCancelled((reason) => call.end(reason));
    this.#enter(call);
    try {
      call.begin(this.#request);
      await serve(exchange, call.signal, () => {
        this.#unheard.delete(call);
        call.heard();
      });
    } catch (error) {
      exchange.fail(toServiceError(error));
    } finally {
      call.over();
    }
  }

  /** Has all that go on for long end. */
  drain(): void {
    this.#isDraining = true;
    for (const call of this.#underWay) call.abort(shuttingDown());
  }

  #enter(call: PlatformCall): void {
    // The oldest of them, not the newest: a client that means to ask has asked by then.
    for (const silent of this.#unheard) {
      if (this.#unheard.size < this.#limits.unheard) break;
      silent.end(new ServiceError("RATE_LIMITED", "too many calls wait for their request"));
    }
    this.#underWay.add(call);
    this.#unheard.add(call);
    if (this.#isDraining) call.abort(shuttingDown());
  }
}
