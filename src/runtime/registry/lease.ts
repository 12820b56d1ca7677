import type { Etcd3 } from "etcd3";
import { ETCD_TIMEOUT_MS, etcdDeadline } from "./etcd-client.ts";

/** Takes a lease: what is put under it goes with it. */
export async function grantLease(client: Etcd3, ttlSeconds: number): Promise<string> {
  const { ID } = await client.leaseClient.leaseGrant({ TTL: ttlSeconds }, etcdDeadline());
  return ID;
}

/** Ends a lease and removes what was put under it. */
export async function revokeLease(client: Etcd3, lease: string): Promise<void> {
  await client.leaseClient.leaseRevoke({ ID: lease }, etcdDeadline());
}

/**
 * Renews a lease.
 *
 * @throws where etcd does not answer, or does not know the lease any longer
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
    // Not `cancel`: that would be told as an error.
    stream.end();
  }
}
