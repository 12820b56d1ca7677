import type { AuthorizationEngine } from "../../../src/authz/engine/engine.ts";

/**
 * Where the engines may differ, each as listed in docs/authorization.md. Everything else
 * is the same in both.
 */
export interface Differences {
  /** The result of a cursor after a write. */
  readonly cursorAfterWrite: "OUT_OF_RANGE" | "continues";
  /** Whether `readRelationships` is sorted. */
  readonly sortedRelationships: boolean;
  /** The operation that a watch reports for a CREATE. */
  readonly createIsWatchedAs: "CREATE" | "TOUCH";
  /** The number of steps at which a check is FAILED_PRECONDITION; absent without such a limit. */
  readonly depth?: number;
  /** Whether concurrent writes are numbered in the order in which they happen; not so in SpiceDB's memory store. */
  readonly ordersConcurrentWrites: boolean;
}

/** An engine that the contract is tested on. */
export interface ContractTarget {
  readonly name: string;
  readonly differences: Differences;
  /** Opens an engine over an empty store, with the schema of the contract. */
  open(): Promise<OpenTarget>;
}

/** An engine and its store. */
export interface OpenTarget {
  readonly engine: AuthorizationEngine;
  /** Another engine, which the caller closes; over the same store if it can have two. */
  openOther(): Promise<AuthorizationEngine>;
  close(): Promise<void>;
}

/** The opened target, for the tests of the contract. */
export type Opened = () => OpenTarget;
