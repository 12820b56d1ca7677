/**
 * The PostgreSQL driver. Import this file only if PostgreSQL is configured: the import fails with a
 * `MissingDriverError` if `pg` is not installed.
 */
import type * as driver from "pg";
import { onMissingDriver } from "./missing-driver.ts";

export const { Client, Pool } = await import("pg").catch(onMissingDriver("pg"));
export type Client = driver.Client;
export type Pool = driver.Pool;
