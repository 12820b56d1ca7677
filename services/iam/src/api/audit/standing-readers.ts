import type { AuthorizationEngine } from "svc-access/authz";
import {
  type CallContext,
  type RevocationFeed,
  requirePrincipal,
  revocableTokenOf,
  ServiceError,
} from "svc-access/runtime";

/** How often it is asked whether the reader of a stream may still read it, in milliseconds. */
const ASK_EVERY_MS = 1000;
/** How often in a row it may not be known: an export begins anew if it ends. */
const MOST_FAILURES = 5;
const UNKNOWN = "it is not known whether the caller may still read these events";
/** What is known for certain. */
const REFUSALS: ReadonlySet<unknown> = new Set(["UNAUTHORIZED", "FORBIDDEN"]);
/** What the policies of the streams require of the caller's zone. */
const PERMISSION = "view_zone";

/** Knows whether callers may still read the events. */
export interface StandingReadersOptions {
  readonly engine: Pick<AuthorizationEngine, "check">;
  /** Which tokens are revoked, also those of users who were disabled or deleted, and of sessions that have ended. */
  readonly revocations: Pick<RevocationFeed, "isRevoked">;
  /** Refuses users who were disabled or deleted, and whom a gateway names. */
  readonly refuseBarred: (call: CallContext) => void | Promise<void>;
}

/** Whom events are sent to, for as long as they may read them: a stream is authorized at its begin only. */
export class StandingReaders {
  readonly #options: StandingReadersOptions;

  constructor(options: StandingReadersOptions) {
    this.#options = options;
  }

  /**
   * Reads messages until its caller may not read them any more.
   *
   * @param open gets a signal that ends them
   * @throws ServiceError UNAUTHORIZED if the caller was disabled, or its tokens revoked, FORBIDDEN if the
   * permission is lost; it or AuthzError, UNAVAILABLE, where that is not known for five seconds; what the messages throw
   */
  async *whilePermitted<Message>(
    context: CallContext,
    open: (signal: AbortSignal) => AsyncIterable<Message>,
  ): AsyncGenerator<Message> {
    const lost = new AbortController();
    let isAsking = false;
    let failures = 0;
    const failed = (error: unknown): void => {
      failures++;
      const isRefusal = REFUSALS.has((error as { readonly code?: unknown }).code);
      if (isRefusal || failures >= MOST_FAILURES) lost.abort(error);
    };
    const ask = async (): Promise<void> => {
      // A question that takes as long as several others is one that fails.
      if (isAsking) return failed(new ServiceError("UNAVAILABLE", UNKNOWN));
      isAsking = true;
      try {
        await this.#assertPermitted(context);
        failures = 0;
      } catch (error) {
        failed(error);
      } finally {
        isAsking = false;
      }
    };
    const timer = setInterval(ask, ASK_EVERY_MS).unref();
    const signal = AbortSignal.any([context.signal, lost.signal]);
    try {
      for await (const message of open(signal)) {
        // It may have been lost while this was on its way.
        if (lost.signal.aborted) break;
        yield message;
      }
    } catch (error) {
      if (!lost.signal.aborted) throw error;
    } finally {
      clearInterval(timer);
    }
    if (lost.signal.aborted) throw lost.signal.reason;
  }

  async #assertPermitted(context: CallContext): Promise<void> {
    const { revocations, refuseBarred } = this.#options;
    const token = revocableTokenOf(context);
    if (token !== undefined && revocations.isRevoked(token)) throw new ServiceError("UNAUTHORIZED");
    await refuseBarred(context);
    await this.assertHolds(context);
  }

  /**
   * Checks that a caller still holds the permission, in the newest state: the policy of the RPC does not know what was
   * revoked at another replica a moment ago.
   *
   * @throws ServiceError FORBIDDEN; AuthzError
   */
  async assertHolds(context: CallContext): Promise<void> {
    const { subjectType, subjectId, organizationId } = requirePrincipal(context);
    const { signal } = context;
    const { allowed } = await this.#options.engine.check(
      {
        resource: { type: "zone", id: organizationId },
        permission: PERMISSION,
        subject: { type: subjectType, id: subjectId },
      },
      { signal, newest: true },
    );
    if (!allowed) throw new ServiceError("FORBIDDEN", "the right to read these events was lost");
  }
}
