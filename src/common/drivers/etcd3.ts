/**
 * The client of etcd. Import this file only where etcd is configured: its import fails with a
 * `MissingDriverError` where `etcd3` is not installed.
 */
import type * as driver from "etcd3";
import { onMissingDriver } from "./missing-driver.ts";

export const { Etcd3 } = await import("etcd3").catch(onMissingDriver("etcd3"));
export type Etcd3 = driver.Etcd3;
