import type { Caller } from "./callers.ts";

/** What a request names: each is made anew for each caller, unless its text is a fixed one. */
export interface Targets {
  /** A local user of acme without relations. */
  readonly user: string;
  /** One who is `admin` of the zone. */
  readonly adminUser: string;
  /** One who owns the zone, as others do. */
  readonly ownerUser: string;
  /** A service account without relations. */
  readonly account: string;
  /** One that is `admin` of the zone. */
  readonly adminAccount: string;
  /** One that owns the zone. */
  readonly ownerAccount: string;
  /** A group at the top of acme, in which the callers with a relation to a group hold theirs. */
  readonly group: string;
  /** The id of the caller; empty for services. */
  readonly caller: string;
  /** A text that is used once. */
  readonly unique: string;
}

/** A request, and who may make it. */
export interface Row {
  readonly rpc: string;
  /** What is special about the request. */
  readonly about?: string;
  readonly request: (targets: Targets) => object;
  readonly allowed: readonly Caller[];
  /** The code of a response to who is allowed, if the request names nothing that there is. */
  readonly code?: string;
  /** A stream of responses. */
  readonly isStream?: true;
  /** One that waits for events. */
  readonly isEndless?: true;
}
