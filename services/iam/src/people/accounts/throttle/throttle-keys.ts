import { createHash } from "node:crypto";
import { isIPv6 } from "node:net";

/** What attempts to log in are counted by. */
export interface ThrottleKeys {
  readonly account: string;
  readonly address: string;
  readonly accountAndAddress: string;
}

/**
 * The keys of an attempt. They are hashes, so that the table does not list who tried to log in.
 *
 * @param account the normalized user name, whether there is such an account or not
 * @param address the caller's IP address
 */
export function throttleKeys(account: string, address: string): ThrottleKeys {
  const network = networkOf(address);
  return {
    account: key("account", account),
    address: key("address", network),
    accountAndAddress: key("account and address", account, network),
  };
}

/** The key of what is counted by address alone, for one purpose. */
export function addressKey(purpose: string, address: string): string {
  return quotaKey(purpose, networkOf(address));
}

/** The key of what a quota counts. @param whose such as the id of an account */
export function quotaKey(purpose: string, ...whose: readonly string[]): string {
  // The words of version 0.1.0: while its replicas are replaced, both versions count in one row.
  return key("purpose and address", purpose, ...whose);
}

function key(...parts: readonly string[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("base64url");
}

/** What an address is counted as: who has one IPv6 address has the 2^64 of its network. */
export function networkOf(address: string): string {
  if (!isIPv6(address)) return address;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  // The URL parser writes an address in its one canonical form.
  const canonical = new URL(`http://[${address.split("%")[0]}]`).hostname.slice(1, -1);
  const [head = "", tail] = canonical.split("::");
  const groups = head === "" ? [] : head.split(":");
  const after = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = tail === undefined ? [] : Array(8 - groups.length - after.length).fill("0");
  return `${[...groups, ...zeros, ...after].slice(0, 4).join(":")}::/64`;
}
