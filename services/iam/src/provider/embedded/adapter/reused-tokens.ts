import type { FailedAttempts } from "../../../people/accounts/throttle/failed-attempts.ts";
import { Quota } from "../../../people/accounts/throttle/quota.ts";
import type { Revocations } from "../../../people/sessions/revocations.ts";
import { type EventSinks, type ProviderEvent, recordEvent } from "../request/provider-events.ts";
import { requestScope } from "../request/request-scope.ts";

type QuotaDatabase = ConstructorParameters<typeof Quota>[0];

/** Of one account. Somebody who is logged in gets code after code without a password, and can use each twice. */
const LIMIT = { purpose: "reuse of tokens", most: 20, spanMs: 600_000 } as const;

/** The audit event of a token or code that was used again. */
export type ReuseEvent = Extract<ProviderEvent["event"], `${string}.reused`>;

/** A token or code that was used again. */
export interface ReusedToken {
  readonly event: ReuseEvent;
  readonly accountId: string | undefined;
  /** The claim `sid` of what it has issued. */
  readonly sid: string | undefined;
  readonly details?: Readonly<Record<string, string>>;
}

/** What ends the access tokens of a token or code that was used again needs. */
export interface ReusedTokensOptions extends EventSinks {
  /** With the tables of the users. */
  readonly database: { readonly kysely: unknown };
  readonly attempts?: Pick<FailedAttempts, "record">;
  readonly now?: () => number;
}

/**
 * Ends the access tokens of a token or code that was used again: somebody else may have one. Where that happens to an
 * account too often, all its tokens end at once, so that it takes one place among the revocations.
 */
export class ReusedTokens {
  readonly #options: ReusedTokensOptions;
  readonly #revocations: Pick<Revocations, "revoke">;
  readonly #quota: Quota;

  constructor(options: ReusedTokensOptions, revocations: Pick<Revocations, "revoke">) {
    const { database, now } = options;
    this.#options = options;
    this.#revocations = revocations;
    this.#quota = new Quota(database.kysely as QuotaDatabase, LIMIT, now);
  }

  /** Ends what a token or code has issued. */
  async end({ accountId, sid }: Pick<ReusedToken, "accountId" | "sid">): Promise<void> {
    const isOver = accountId !== undefined && (await this.#quota.use(accountId)) !== undefined;
    if (isOver) {
      await this.#revocations.revoke({ kind: "subject", value: accountId, subjectType: "user" });
    } else if (sid !== undefined) {
      await this.#revocations.revoke({ kind: "sid", value: sid });
    }
  }

  /** Records it in the audit of the request under way, whose response waits for it. */
  record({ event, accountId, details = {} }: Omit<ReusedToken, "sid">): void {
    const { attempts, log } = this.#options;
    const scope = requestScope.getStore();
    const user = accountId === undefined ? {} : { accountId };
    const riskLevel = "HIGH";
    if (scope === undefined || attempts === undefined) {
      recordEvent(this.#options, { event, riskLevel, ...user, details });
      return;
    }
    const stored = attempts
      .record(scope.call, { event, riskLevel, ...user, details })
      .catch((error: unknown) => log.error({ error, event }, "an audit event was not stored"));
    scope.pending.push(stored);
  }
}
