import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe } from "vitest";
import type { DatabaseKind, DatabaseSettings } from "../../../src/database/database.ts";
import { onPostgres } from "../../authz/on-postgres.ts";
import { settingsOf } from "../settings.ts";

/** A configuration of a service, as far as its database needs it. */
export interface Configured {
  readonly database: DatabaseSettings;
}

/** A kind of database. */
export interface Target {
  readonly kind: DatabaseKind;
  /** The configuration of a new database. */
  readonly fresh: (of?: Partial<DatabaseSettings>) => Promise<Configured>;
}

/** Declares the same tests for SQLite and PostgreSQL. */
export async function onBoth(name: string, tests: (target: Target) => void): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "svc-access-service-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const file = () => join(folder, `${randomUUID()}.db`);
  describe(`${name}: SQLite`, () =>
    tests({
      kind: "sqlite",
      fresh: async (of = {}) => ({ database: settingsOf({ file: file(), ...of }) }),
    }));
  await onPostgres(`${name}: PostgreSQL`, ({ url, query }) =>
    tests({
      kind: "postgres",
      async fresh(of = {}) {
        const own = `service_${randomUUID().replaceAll("-", "")}`;
        await query(`create database ${own}`);
        const ownUrl = Object.assign(new URL(url), { pathname: `/${own}` }).href;
        return { database: settingsOf({ driver: "postgres", url: ownUrl, ...of }) };
      },
    }),
  );
}
