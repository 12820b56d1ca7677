import { hostname } from "node:os";
import { AuthzError } from "../engine/authz-error.ts";

/** Who holds a store. */
export interface LockHolder {
  readonly host: string;
  readonly pid: number;
  /** ISO 8601. */
  readonly since: string;
}

/** This process as a holder from now on. */
export function thisProcess(): LockHolder {
  return { host: hostname(), pid: process.pid, since: new Date().toISOString() };
}

/** Reads the holder from the store; undefined if it has none. */
export function parseHolder(text: string | undefined): LockHolder | undefined {
  if (text === undefined || text === "") return undefined;
  try {
    const { host, pid, since } = JSON.parse(text) as Partial<LockHolder>;
    if (host === undefined || pid === undefined || since === undefined) return undefined;
    return { host, pid, since };
  } catch {
    return undefined;
  }
}

/** The refusal of a store that another process holds. */
export function heldError(store: string, holder: LockHolder | undefined): AuthzError {
  const by =
    holder === undefined
      ? "by another process"
      : `by process ${holder.pid} on ${holder.host} since ${holder.since}`;
  return new AuthzError(
    "FAILED_PRECONDITION",
    `${store} is held ${by}: stop that process first; only one process can hold a store`,
  );
}

/** The refusal of a commit after another process has taken the store. */
export function lostError(store: string, holder: LockHolder | undefined): AuthzError {
  const by =
    holder === undefined
      ? "another process"
      : `process ${holder.pid} on ${holder.host}, since ${holder.since}`;
  return new AuthzError("FAILED_PRECONDITION", `the lock of ${store} was lost to ${by}`);
}
