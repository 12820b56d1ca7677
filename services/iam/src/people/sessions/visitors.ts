import type { CallContext, CallHeaders } from "svc-access/runtime";

/** Somebody who is logged in at the provider in a browser. */
export interface Visitor {
  readonly accountId: string;
  /** The session, as `UserSessions` has it. */
  readonly sessionId: string;
  /** When the person logged in last, in milliseconds since the epoch. */
  readonly loginTime: number;
  /** Whether the login has used a second factor. */
  readonly usedFactor: boolean;
  /** What no other browser has: the hash of the session's cookie. */
  readonly browser: string;
}

/** How somebody is asked to log in. */
export interface VisitorLogin {
  /** What comes back in the parameter `state`. */
  readonly state: string;
  /** How long ago the last login may be, in seconds; however long if absent. */
  readonly maxAge?: number;
}

/** Who is logged in at the provider, by its own session and not by tokens. */
export interface Visitors {
  /** Who sends the request of a call; undefined if nobody is logged in, or no longer. */
  find(headers: Pick<CallHeaders, "all">, call: CallContext): Promise<Visitor | undefined>;
  /**
   * The sender of a request has just added a second factor: the login counts as one that has used it.
   *
   * @param methods as of RFC 8176
   */
  addedFactor(
    headers: Pick<CallHeaders, "all">,
    call: CallContext,
    methods: readonly string[],
  ): Promise<void>;
  /** Where a browser logs in, and comes back to the pages of the own account. */
  loginUrl(login: VisitorLogin): string;
}
