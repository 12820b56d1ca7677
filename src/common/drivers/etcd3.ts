/**
 * The etcd client. Import this file only if etcd is configured: the import fails with a
 * `MissingDriverError` if `etcd3` is not installed.
 */
import type * as driver from "etcd3";
import { onMissingDriver } from "./missing-driver.ts";

export const { Etcd3 } = await import("etcd3").catch(onMissingDriver("etcd3"));
export type Etcd3 = driver.Etcd3;
