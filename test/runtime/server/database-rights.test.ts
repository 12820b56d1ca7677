/** Roles of PostgreSQL: one that owns the tables, and one that only uses them. */
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { Client } from "pg";
import { afterEach, describe, expect, test } from "vitest";
import {
  createAuthorizationEngine,
  migrateDatabase,
  openAuditLog,
} from "../../../src/runtime/index.ts";
import { onPostgres } from "../../authz/on-postgres.ts";
import {
  type RunningVault,
  shareDocument,
  startVault,
  vaultConfiguration,
} from "../support/vault-server.ts";

const PAGE = readFileSync(new URL("../../../docs/database.md", import.meta.url), "utf8");
const SETUP = /```sql\n(create role [^`]*)```/.exec(PAGE)?.[1] ?? expect.fail("no statements");
/** The table of rights on the page. */
const RIGHTS = [...PAGE.matchAll(/^\| ((?:`\w+`(?:, )?)+) \| (.*(?:select|insert).*) \|$/gm)].map(
  ([, tables = "", rights = ""]) => ({
    tables: [...tables.matchAll(/\w+/g)].map(([table]) => `svc_access.${table}`).join(", "),
    rights: [...rights.matchAll(/select|insert|update|delete/g)].join(", "),
  }),
);

test("without a database there are no tables to create, which is reported", async () => {
  const { config } = vaultConfiguration("/nowhere", {}, {});
  const without = { ...config, database: undefined };
  await expect(migrateDatabase(without)).rejects.toThrow("database is missing: name the database");
});

await onPostgres("roles of PostgreSQL", ({ url, query }) => {
  const running: RunningVault[] = [];
  const made: string[] = [];
  afterEach(async () => {
    for (const vault of running.splice(0)) await vault.stop();
    for (const [index, name] of made.splice(0).entries()) {
      await query(`drop ${index === 0 ? "database" : "role"} "${name}"`);
    }
  });

  /** A database of an owner, and a role that only uses it, by the statements of the page. */
  async function prepare() {
    const name = `vault_${randomUUID().slice(0, 8)}`;
    const [owner, user] = [`${name}_owner`, name];
    const [before = "", after = ""] = SETUP.replaceAll("notes", name)
      .replaceAll("'…'", "'secret'")
      .split(/^\\connect .*$/m);
    for (const statement of before.split(";\n")) await query(statement);
    made.push(name, owner, user);
    const at = (role: string) => {
      const address = new URL(url);
      address.username = role;
      address.password = "secret";
      address.pathname = `/${name}`;
      return address.href;
    };
    const asOwner = async (sql: string) => {
      const client = new Client({ connectionString: at(owner) });
      await client.connect();
      try {
        return (await client.query(sql)).rows as Record<string, unknown>[];
      } finally {
        await client.end();
      }
    };
    const start = async (role: string, config: object = {}) => {
      const database = { driver: "postgres", url: at(role) };
      const vault = await startVault({ config: { database, ...config } });
      running.push(vault);
      return vault;
    };
    const migrate = (role: string) => {
      const database = { driver: "postgres", url: at(role) };
      return migrateDatabase(vaultConfiguration("/nowhere", {}, { database }).config);
    };
    const open = async (role: string) => {
      const database = { driver: "postgres", url: at(role) };
      const { config } = vaultConfiguration("/nowhere", {}, { database });
      await (await createAuthorizationEngine(config)).close();
    };
    const grantUse = async () => {
      const client = new Client({
        connectionString: Object.assign(new URL(url), { pathname: `/${name}` }).href,
      });
      await client.connect();
      await client.query(after).finally(() => client.end());
    };
    return { owner, user, at, asOwner, start, open, migrate, grantUse };
  }

  test("a service with a role that may only use the tables serves once their owner has created them", async () => {
    const { owner, user, start, migrate, grantUse } = await prepare();
    await grantUse();
    await migrate(owner);
    const vault = await start(user);
    await shareDocument(vault.engine);
    expect(await write(vault)).toBe(200);
    const page = await vault.server.audit?.list({ resource: "document:open" });
    expect(page?.events.map(({ data }) => data.code)).toEqual(["OK"]);
  });

  test("a role that may only use the tables creates none, and the error names the command for their owner", async () => {
    const { owner, user, start, asOwner, migrate, grantUse } = await prepare();
    const denied = { code: "FAILED_PRECONDITION" };
    const noSchema = start(user);
    await expect(noSchema).rejects.toMatchObject(denied);
    await expect(noSchema).rejects.toThrow(
      `run svc-access database migrate as the owner of the database, or let them run grant create on database ${user} to ${user};`,
    );
    await grantUse();
    const noTables = start(user);
    await expect(noTables).rejects.toMatchObject(denied);
    await expect(noTables).rejects.toThrow(
      /has no relationship tables, this program needs version \d, and its user may not create them .*: run svc-access database migrate as their owner first$/,
    );
    await migrate(owner);
    // This simulates a program that is newer than the tables.
    await asOwner("delete from svc_access.component_migrations where component = 'audit'");
    await expect(start(user)).rejects.toThrow(
      /has no audit tables, .* its user may not create them \(permission denied for schema svc_access\): run svc-access database migrate/,
    );
    await expect(migrate(user)).rejects.toMatchObject(denied);
  });

  test("the rights on the page are sufficient, even with retention", async () => {
    const { owner, user, start, asOwner, migrate, grantUse } = await prepare();
    await grantUse();
    await migrate(owner);
    await asOwner(`revoke all on all tables in schema svc_access from ${user}`);
    expect(RIGHTS).toHaveLength(9);
    for (const { rights, tables } of RIGHTS) {
      await asOwner(`grant ${rights} on ${tables} to ${user}`);
    }
    const vault = await start(user, { audit: { retention_days: 30 } });
    await shareDocument(vault.engine);
    expect(await write(vault)).toBe(200);
    expect(vault.lines.filter((line) => /"level":"(warn|error)"/.test(line))).toEqual([
      expect.stringContaining("trusted_peers is not given"),
    ]);
  });

  test("reading the audit requires only the rights on the page", async () => {
    const { owner, user, start, asOwner, at, grantUse } = await prepare();
    await grantUse();
    const vault = await start(owner);
    await shareDocument(vault.engine);
    await write(vault);
    await asOwner(`revoke all on all tables in schema svc_access from ${user}`);
    const [, tables = ""] =
      /reads the audit[^]*?`select` on ((?:`\w+`(?:, | and )?)+)/.exec(PAGE) ?? [];
    const names = [...tables.matchAll(/\w+(?=`)/g)].map(([table]) => `svc_access.${table}`);
    await asOwner(`grant select on ${names.join(", ")} to ${user}`);
    const log = await openAuditLog({ url: at(user) });
    try {
      expect((await log.list()).events).toHaveLength(1);
      for await (const { event } of log.follow({}, { from: "start" })) {
        expect(event.type).toBe("vault.document.update");
        break;
      }
    } finally {
      await log.close();
    }
  });

  test.each<[right: string, of: string, grant: RegExp]>([
    [
      "select",
      "component_migrations",
      /let their owner run grant select on svc_access\.component_migrations to vault_\w+;$/,
    ],
    ["insert, update", "audit_events", /run grant insert, update on svc_access\.audit_events to /],
    [
      "delete",
      "relationships",
      /let their owner run grant delete on svc_access\.relationships to /,
    ],
    ["update", "meta", /grant update on svc_access\.meta to vault_\w+;$/],
    ["select", "migrations", /owner run grant select on svc_access\.migrations to vault_\w+;$/],
  ])("%s on %s that is missing stops the start, with the grant", async (right, table, grant) => {
    const { owner, user, start, asOwner, migrate, grantUse } = await prepare();
    await grantUse();
    await migrate(owner);
    await asOwner(`revoke ${right} on svc_access.${table} from ${user}`);
    await expect(start(user)).rejects.toThrow(grant);
  });

  test.each([
    [
      "schema svc_access",
      "usage",
      /their owner run grant usage on schema svc_access to vault_\w+;$/,
    ],
    [
      "database",
      "connect",
      /of the database run grant connect on database vault_\w+ to vault_\w+;$/,
    ],
  ])("the %s that may not be used stops the start, with the grant", async (what, right, grant) => {
    const { owner, user, start, asOwner, migrate, grantUse } = await prepare();
    await grantUse();
    await migrate(owner);
    const name = what === "database" ? `database ${user}` : what;
    await asOwner(`revoke ${right} on ${name} from ${user}`);
    await expect(start(user)).rejects.toThrow(grant);
  });

  test.each(["a server", "an engine by itself"])(
    "%s reports all missing rights at once",
    async (what) => {
      const { owner, user, start, open, asOwner, migrate, grantUse } = await prepare();
      await grantUse();
      await migrate(owner);
      await asOwner(`revoke all on all tables in schema svc_access from ${user}`);
      const opening: Promise<unknown> = what === "a server" ? start(user) : open(user);
      const { message } = await opening.then(
        () => expect.fail("opened"),
        (error: Error) => error,
      );
      for (const table of ["migrations", "meta", "changes", "relationships"]) {
        expect(message).toMatch(new RegExp(`grant [a-z, ]+ on svc_access\\.${table} to `));
      }
      for (const table of ["component_migrations", "audit_events", "audit_clock", "audit_marks"]) {
        expect(message).toMatch(new RegExp(`grant [a-z, ]+ on svc_access\\.${table} to `));
      }
      // The reported rights are sufficient.
      for (const [statement] of message.matchAll(/grant [^;]+;/g)) await asOwner(statement);
      await start(user);
    },
  );

  test("the right to delete events is required with retention", async () => {
    const { owner, user, start, asOwner, migrate, grantUse } = await prepare();
    await grantUse();
    await migrate(owner);
    await asOwner(`revoke delete on all tables in schema svc_access from ${user}`);
    await asOwner(`grant delete on svc_access.relationships, svc_access.changes to ${user}`);
    await expect(start(user, { audit: { retention_days: 30 } })).rejects.toThrow(
      /user \w+ lacks privileges on the tables of the PostgreSQL database .*: let their owner run grant delete on svc_access\.audit_events to \w+; grant delete on svc_access\.audit_marks to/,
    );
    const vault = await start(user);
    await shareDocument(vault.engine);
    expect(await write(vault)).toBe(200);
  });

  describe("a migration during a running service", () => {
    test("does nothing if the tables have this version", async () => {
      const { owner, start, migrate, asOwner } = await prepare();
      const vault = await start(owner);
      const [before] = await asOwner("select epoch from svc_access.meta");
      await migrate(owner);
      expect(await asOwner("select epoch from svc_access.meta")).toEqual([before]);
      await shareDocument(vault.engine);
      expect(await write(vault)).toBe(200);
    });

    test("is refused if the tables of relationships change, since one process locks them", async () => {
      const { owner, start, migrate, asOwner } = await prepare();
      await start(owner);
      await asOwner("delete from svc_access.migrations where version > 1");
      await expect(migrate(owner)).rejects.toThrow(`is held by process ${process.pid} on `);
    });
  });
});

async function write({ http }: RunningVault): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${http}/v1/documents/open`, {
    method: "PUT",
    headers: { "x-svc-external-sub": "alice", "content-type": "application/json" },
    body: "{}",
  });
  return response.status;
}
