import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { query } from "../../../../test/support/postgres.ts";
import type { IamService } from "./iam-service.ts";

/** All that a service has stored, as text: the files of its folder, and the rows of its PostgreSQL database. */
export async function everythingStored(iam: IamService): Promise<string> {
  const files = readdirSync(iam.folder).map((name) => readFileSync(join(iam.folder, name)));
  const { database } = iam.options.configuration.config;
  const rows = database?.url === undefined ? [] : await allRows(database.url);
  return [...files, ...rows].map(textOf).join("\n");
}

async function allRows(url: string): Promise<readonly unknown[]> {
  const tables = await query(
    url,
    `select format('%I.%I', table_schema, table_name) as name from information_schema.tables
     where table_schema not in ('pg_catalog', 'information_schema') and table_type = 'BASE TABLE'`,
  );
  const rows: unknown[] = [];
  for (const { name } of tables) rows.push(...(await query(url, `select * from ${name}`)));
  return rows.flatMap((row) => Object.values(row as object));
}

function textOf(value: unknown): string {
  if (value instanceof Uint8Array) return Buffer.from(value).toString("latin1");
  return typeof value === "string" ? value : JSON.stringify(value);
}
