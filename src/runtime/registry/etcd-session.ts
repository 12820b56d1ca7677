import { setTimeout as sleep } from "node:timers/promises";
import type { Etcd3 } from "etcd3";
import { within } from "../../common/within.ts";
import { ETCD_TIMEOUT_MS, etcdDeadline } from "./etcd-client.ts";

/** Work on etcd that is restarted, on a new connection, whenever it fails. */
export interface SessionWork {
  readonly connect: () => Etcd3;
  /**
   * Works until the signal aborts, or throws.
   *
   * @param established - to be called once etcd has answered
   */
  readonly run: (client: Etcd3, established: () => void, signal: AbortSignal) => Promise<void>;
  /** The work has failed, and is retried. */
  readonly lost: (error: unknown, wasEstablished: boolean) => void;
}

const FIRST_DELAY_MS = 200;
const LAST_DELAY_MS = 10_000;
const CLOSE_MS = 2000;

/**
 * Keeps work going until the signal aborts. Each try has a client of its own: what a
 * client keeps from a lost etcd server (tokens, streams) is useless with the next one.
 */
export async function keepSession(work: SessionWork, signal: AbortSignal): Promise<void> {
  let delay = FIRST_DELAY_MS;
  while (!signal.aborted) {
    let isEstablished = false;
    let client: Etcd3 | undefined;
    try {
      client = work.connect();
      await work.run(
        client,
        () => {
          isEstablished = true;
          delay = FIRST_DELAY_MS;
        },
        signal,
      );
    } catch (error) {
      if (!signal.aborted) work.lost(error, isEstablished);
    } finally {
      client?.close();
    }
    if (signal.aborted) return;
    // Not all instances return at the same moment.
    await sleep(delay * (0.5 + Math.random()), undefined, { signal }).catch(() => undefined);
    delay = Math.min(delay * 2, LAST_DELAY_MS);
  }
}

/** Waits for work that was asked to end, but not for an etcd that does not respond. */
export async function settledSoon(work: Promise<void>): Promise<void> {
  await within(work, CLOSE_MS, () => undefined);
}

/** Takes a lease: keys under it are removed with it. */
export async function grantLease(client: Etcd3, ttlSeconds: number): Promise<string> {
  const { ID } = await client.leaseClient.leaseGrant({ TTL: ttlSeconds }, etcdDeadline());
  return ID;
}

/** Ends a lease and removes the keys under it. */
export async function revokeLease(client: Etcd3, lease: string): Promise<void> {
  await client.leaseClient.leaseRevoke({ ID: lease }, etcdDeadline());
}

/**
 * Renews a lease.
 *
 * @throws if etcd does not answer, or does not know the lease any longer
 */
export async function keepLeaseAlive(client: Etcd3, lease: string): Promise<void> {
  const stream = await client.leaseClient.leaseKeepAlive();
  let timer: NodeJS.Timeout | undefined;
  try {
    const answer = new Promise<string | number>((resolve, reject) => {
      timer = setTimeout(() => reject(new Error("etcd does not answer")), ETCD_TIMEOUT_MS);
      stream.on("data", ({ TTL }) => resolve(TTL));
      stream.on("error", reject);
      stream.on("end", () => reject(new Error("etcd has ended the stream")));
    });
    stream.write({ ID: lease });
    if (Number(await answer) <= 0) throw new Error("the lease has expired");
  } finally {
    clearTimeout(timer);
    // Not `cancel`: that would be reported as an error.
    stream.end();
  }
}
