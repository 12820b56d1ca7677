/** Relationships are read beside the process whose engine holds them. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, expect, test } from "vitest";
import type { RelationshipFilter } from "../../../src/model/relationship.ts";
import {
  createAuthorizationEngine,
  hasRelationship,
  StartUpError,
} from "../../../src/runtime/index.ts";
import { onPostgres } from "../../authz/on-postgres.ts";
import { vaultConfiguration } from "../support/vault-server.ts";

const folder = mkdtempSync(join(tmpdir(), "svc-access-has-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const configOf = (database: object) => vaultConfiguration(folder, {}, { database }).config;
const fileOf = (name: string) => ({ driver: "sqlite", file: join(folder, name) });
const OWNERS = { resourceType: "document", resourceId: "open", relation: "editor" };

const FOUND: readonly RelationshipFilter[] = [
  OWNERS,
  { resourceType: "document" },
  { relation: "editor" },
  { subject: { type: "user" } },
  { ...OWNERS, subject: { type: "user", id: "alice" } },
  { ...OWNERS, subject: { type: "user", id: "alice", relation: "" } },
];
const ABSENT: readonly RelationshipFilter[] = [
  { ...OWNERS, resourceId: "ope" },
  { ...OWNERS, resourceId: "open' or '1'='1" },
  { ...OWNERS, resourceType: "vault" },
  { ...OWNERS, relation: "viewer" },
  { ...OWNERS, subject: { type: "user", id: "bob" } },
  { ...OWNERS, subject: { type: "service" } },
  { ...OWNERS, subject: { type: "user", id: "alice", relation: "member" } },
];

async function contract(database: object): Promise<void> {
  const config = configOf(database);
  expect(await hasRelationship(config, OWNERS)).toBe(false);
  const engine = await createAuthorizationEngine(config);
  try {
    expect(await hasRelationship(config, OWNERS)).toBe(false);
    const relationship = {
      resource: { type: "document", id: "open" },
      relation: "editor",
      subject: { type: "user", id: "alice" },
    };
    await engine.writeRelationships({ updates: [{ operation: "TOUCH", relationship }] });
    for (const filter of FOUND) expect(await hasRelationship(config, filter)).toBe(true);
    for (const filter of ABSENT) expect(await hasRelationship(config, filter)).toBe(false);
    await engine.writeRelationships({ updates: [{ operation: "DELETE", relationship }] });
    expect(await hasRelationship(config, OWNERS)).toBe(false);
  } finally {
    await engine.close();
  }
  expect(await hasRelationship(config, OWNERS)).toBe(false);
}

test("in SQLite, before, while and after an engine holds them", () => contract(fileOf("a.db")));

await onPostgres("relationships beside an engine", ({ url, query }) => {
  test("in PostgreSQL, before, while and after an engine holds them", async () => {
    await query("create database beside");
    const own = Object.assign(new URL(url), { pathname: "/beside" }).href;
    await contract({ driver: "postgres", url: own });
  });
});

test("an empty filter is refused", async () => {
  const config = configOf(fileOf("b.db"));
  await expect(hasRelationship(config, {})).rejects.toThrow(TypeError);
});

test("a configuration without a database is refused", async () => {
  const { database: _, ...config } = configOf(fileOf("b.db"));
  await expect(hasRelationship(config, OWNERS)).rejects.toThrow(StartUpError);
});

test("tables of a newer version are not read", async () => {
  const config = configOf(fileOf("c.db"));
  await (await createAuthorizationEngine(config)).close();
  const stored = new DatabaseSync(join(folder, "c.relationships.db"));
  stored.exec("insert into migrations values (99, 'later')");
  stored.close();
  await expect(hasRelationship(config, OWNERS)).rejects.toThrow(/has version 99/);
});
