import type { PermissionCalls } from "../../authz/iam/permission-calls.ts";
import type { Logger } from "../../common/logger.ts";

/** How often the files are read again, in milliseconds. */
const LOOK_EVERY_MS = 5000;
/** How long calls of a former client may be under way, in milliseconds. */
const KEEP_FORMER_MS = 60_000;

/** What calls with renewed certificates need. */
export interface RenewedCallsOptions<Tls> {
  /** Reads the certificates. It throws with all that is wrong. */
  readonly read: () => Tls;
  /** Makes a client with them; it connects with its first call. */
  readonly open: (tls: Tls) => PermissionCalls;
  readonly logger: Logger;
}

/**
 * Calls of a client whose certificates are read again every 5 seconds: with new ones, the next call is on a new
 * connection. While they cannot be used, the previous ones stay.
 *
 * @throws whatever `read` does, at the start
 */
export function renewedCalls<Tls extends object>({
  read,
  open,
  logger,
}: RenewedCallsOptions<Tls>): PermissionCalls {
  let tls = read();
  let client = open(tls);
  let problem: string | undefined;
  const former = new Map<NodeJS.Timeout, PermissionCalls>();

  const renew = (next: Tls): void => {
    const previous = client;
    client = open(next);
    tls = next;
    const timer = setTimeout(() => {
      former.delete(timer);
      void previous.close();
    }, KEEP_FORMER_MS).unref();
    former.set(timer, previous);
    logger.info({}, "the certificates for IAM have changed, and the new ones are used");
  };
  const look = (): void => {
    try {
      const next = read();
      problem = undefined;
      if (!isEqual(next, tls)) renew(next);
    } catch (error) {
      const { message } = error as Error;
      // Once, not each time that they are read.
      if (message !== problem) {
        logger.error({}, `security.authz.iam: ${message}; the previous certificates are used`);
      }
      problem = message;
    }
  };
  // It must not keep an otherwise finished program alive.
  const looking = setInterval(look, LOOK_EVERY_MS).unref();

  const close = async (): Promise<void> => {
    clearInterval(looking);
    for (const timer of former.keys()) clearTimeout(timer);
    await Promise.all([client, ...former.values()].map((one) => one.close()));
  };
  const calls = Object.keys(client).map((name) => {
    const call = (...given: unknown[]) =>
      (client as unknown as Record<string, (...given: unknown[]) => unknown>)[name]?.(...given);
    return [name, call];
  });
  return { ...Object.fromEntries(calls), close };
}

function isEqual(one: object, other: object): boolean {
  const texts = (tls: object) =>
    Object.entries(tls).map(([key, pem]) => `${key} ${Buffer.from(pem).toString("base64")}`);
  return texts(one).join() === texts(other).join();
}
