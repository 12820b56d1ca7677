/**
 * The etcd client. Import this file only if etcd is configured: the import fails with a
 * `MissingDriverError` if `etcd3` is not installed.
 */
import type * as driver from "etcd3";
import { onMissingDriver } from "./missing-driver.ts";

// It is in CommonJS: in a bundle it has the default export only.
const { default: client } = await import("etcd3").catch(onMissingDriver("etcd3"));
export const { Etcd3 } = client;
export type Etcd3 = driver.Etcd3;
