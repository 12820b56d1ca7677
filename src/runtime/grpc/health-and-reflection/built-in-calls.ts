import { Deadlines } from "../../chain/deadlines.ts";
import { ServiceError, shuttingDown } from "../../error/service-error.ts";
import { toServiceError } from "../../error/to-service-error.ts";
import type { RpcExchange } from "../../rpc/rpc-exchange.ts";
import type { MessageLimits } from "../../wire/message-codec.ts";
import { BuiltInCall, type BuiltInCallKeeper } from "./built-in-call.ts";
import type { BuiltInJson } from "./built-in-json.ts";
import type { BuiltInLimits } from "./built-in-limits.ts";
import type { BuiltInExchange, BuiltInMethod } from "./built-in-method.ts";
import { loadedOnce } from "./loaded-once.ts";

/** One object for all: when it is reported, there are many. */
const CROWDED_OUT = Object.freeze(
  new ServiceError("RATE_LIMITED", "too many calls wait for their request"),
);

/** The calls of the built-in RPCs: their duration and their total cost are bounded. */
export class BuiltInCalls implements BuiltInCallKeeper {
  readonly #limits: BuiltInLimits;
  readonly #messages: MessageLimits;
  readonly #request: Deadlines;
  readonly #underWay = new Set<BuiltInCall>();
  /** Those without a message so far, in the order of arrival. */
  readonly #silent = new Set<BuiltInCall>();
  #isCrowded = false;
  #isDraining = false;
  /** Few calls have JSON messages, so their reader is created for the first one. */
  readonly #json: () => Promise<BuiltInJson>;

  constructor(limits: BuiltInLimits, messages: MessageLimits) {
    this.#limits = limits;
    this.#messages = messages;
    this.#request = new Deadlines(limits.requestMs);
    this.#json = loadedOnce(async () => {
      const { builtInJson } = await import("./built-in-json.ts");
      return builtInJson(this.#messages);
    });
  }

  /** Serves a call, including its status. Does not reject. */
  async serve({ path, quota, serve }: BuiltInMethod, exchange: RpcExchange): Promise<void> {
    const refusal = quota?.refusal(exchange.peer);
    // At once: waiting for its message would cost more.
    if (refusal !== undefined) {
      exchange.tooMany?.();
      return exchange.fail(refusal);
    }
    const call = new BuiltInCall(exchange, quota, this);
    exchange.whenCancelled((reason) => call.end(reason));
    this.#enter(call);
    if (this.#isCrowded) exchange.tooMany?.();
    try {
      call.begin(this.#request);
      const messages = exchange.codec === "json" ? await this.#inJson(path, exchange) : exchange;
      // By then its client may have disconnected.
      if (!call.isOver) await serve(messages, call);
    } catch (error) {
      exchange.fail(toServiceError(error));
    } finally {
      call.over();
    }
  }

  /** Ends all long calls. */
  drain(): void {
    this.#isDraining = true;
    for (const call of this.#underWay) call.abort(shuttingDown());
  }

  received(call: BuiltInCall): void {
    this.#silent.delete(call);
  }

  over(call: BuiltInCall): void {
    this.#underWay.delete(call);
    this.#silent.delete(call);
  }

  async #inJson(path: string, exchange: RpcExchange): Promise<BuiltInExchange> {
    return (await this.#json())(path, exchange);
  }

  #enter(call: BuiltInCall): void {
    this.#underWay.add(call);
    this.#silent.add(call);
    if (this.#isDraining) call.abort(shuttingDown());
    if (this.#isCrowded || this.#silent.size <= this.#limits.silent) return;
    this.#isCrowded = true;
    // The messages that arrived together with them are read by then.
    setImmediate(() => this.#thinOut());
  }

  /** Ends the oldest of them, not the newest: an honest client has sent its request by then. */
  #thinOut(): void {
    this.#isCrowded = false;
    for (const call of this.#silent) {
      if (this.#silent.size <= this.#limits.silent) break;
      call.end(CROWDED_OUT);
    }
  }
}
