import type { AuthorizationEngine } from "../../../src/authz/engine/engine.ts";

/**
 * Where the engines may differ, one for one what docs/authorization.md lists. Whatever is not
 * named here is the same in both.
 */
export interface Differences {
  /** What a cursor gives after a write. */
  readonly cursorAfterWrite: "OUT_OF_RANGE" | "goes on";
  /** Whether `readRelationships` is sorted. */
  readonly sortedRelationships: boolean;
  /** What a watch tells of a CREATE. */
  readonly createIsWatchedAs: "CREATE" | "TOUCH";
  /** At how many steps a check is FAILED_PRECONDITION; absent where there is no such limit. */
  readonly depth?: number;
  /** Whether writes at once are numbered in the order that they happen in; SpiceDB's memory store, for tests, errs. */
  readonly ordersConcurrentWrites: boolean;
}

/** An engine that the contract is held against. */
export interface ContractTarget {
  readonly name: string;
  readonly differences: Differences;
  /** Opens an engine over an empty store, with the schema of the contract. */
  open(): Promise<OpenTarget>;
}

/** An engine and what it stands on. */
export interface OpenTarget {
  readonly engine: AuthorizationEngine;
  /** Another engine, to be closed; over the same store where there can be two. */
  openOther(): Promise<AuthorizationEngine>;
  close(): Promise<void>;
}

/** What the tests of the contract ask, once it is open. */
export type Opened = () => OpenTarget;
