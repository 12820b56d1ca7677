/**
 * The driver of PostgreSQL. Import this file only where PostgreSQL is configured: its import fails
 * with a `MissingDriverError` where `pg` is not installed.
 */
import type * as driver from "pg";
import { onMissingDriver } from "./missing-driver.ts";

export const { Client, Pool } = await import("pg").catch(onMissingDriver("pg"));
export type Client = driver.Client;
export type Pool = driver.Pool;
