import type { RawResponse } from "svc-access/runtime";
import { AddressQuota } from "../../accounts/throttle/address-quota.ts";

type QuotaDatabase = ConstructorParameters<typeof AddressQuota>[0];

/** Codes last ten minutes, so an address has at most so many of them that can be guessed. */
const LIMIT = { purpose: "starts of device logins", most: 30, spanMs: 600_000 } as const;

/** Limits how many device logins are started from an address. */
export class DeviceStarts {
  readonly #quota: AddressQuota;

  /** @param database with the tables of the users */
  constructor(database: { readonly kysely: unknown }, now?: () => number) {
    this.#quota = new AddressQuota(database.kysely as QuotaDatabase, LIMIT, now);
  }

  /**
   * Counts a start.
   *
   * @returns after how many seconds another one is allowed, if this one is not
   */
  async begin(address: string): Promise<number | undefined> {
    const waitMs = await this.#quota.use(address);
    return waitMs === undefined ? undefined : Math.ceil(waitMs / 1000);
  }
}

/** The response to a device that may not start a login now, in the error form of OAuth. */
export function deviceStartRefused(seconds: number): RawResponse {
  return {
    status: 429,
    headers: {
      "Content-Type": "application/json",
      "Cache-Control": "no-store",
      "Retry-After": String(seconds),
    },
    body: JSON.stringify({
      error: "slow_down",
      error_description: "too many device logins were started from this address",
    }),
  };
}
