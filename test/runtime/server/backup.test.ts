/** Backups of a running service, made and restored as in docs/database.md. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, describe, expect, test } from "vitest";
import type { Revision } from "../../../src/authz/engine/requests.ts";
import { onPostgres } from "../../authz/on-postgres.ts";
import { postgresPrograms } from "../../support/postgres.ts";
import { type RunningVault, startVault } from "../support/vault-server.ts";

const running = new Set<RunningVault>();
const folders: string[] = [];
afterEach(async () => {
  for (const vault of running) await stop(vault);
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

const PAGE = readFileSync(new URL("../../../docs/database.md", import.meta.url), "utf8");

/** Runs the block of the page that has a command, for the database `vault`. */
function runFromPage(command: string, cwd: string, env: NodeJS.ProcessEnv): void {
  const block = [...PAGE.matchAll(/```sh\n([^`]*)```/g)].find(([, text]) =>
    text?.includes(command),
  );
  const script = (block?.[1] ?? expect.fail(command)).replaceAll("notes", "vault");
  const path = [dirname(process.execPath), postgresPrograms(), process.env["PATH"]].join(":");
  execFileSync("sh", ["-ec", script], { cwd, env: { ...process.env, PATH: path, ...env } });
}

test("a backup of SQLite files during writes restores decisions and audit", async () => {
  const [data, cwd] = [newFolder(), newFolder()];
  const database = { driver: "sqlite", file: join(data, "vault.db") };
  mkdirSync(join(cwd, "backup"));
  const vault = await start(database);
  const written = await writeAround(vault, async () => {
    runFromPage('node -e "$copy"', cwd, { DATA: data });
  });
  runFromPage("mkdir before", cwd, { DATA: data });
  expect(statSync(database.file).mode & 0o777).toBe(0o600);
  await expectRestored(await start(database), written);
});

test("with a new id a restored store refuses every earlier revision", async () => {
  const [data, kept] = [newFolder(), newFolder()];
  const vault = await start({ driver: "sqlite", file: join(data, "vault.db") });
  const known = await grant(vault, "alice");
  const file = join(kept, "vault.relationships.db");
  const source = new DatabaseSync(join(data, "vault.relationships.db"), { readOnly: true });
  source.exec(`vacuum into '${file}'`);
  source.close();
  const lost = await grant(vault, "bob");
  await stop(vault);

  const restored = await start({ driver: "sqlite", file: join(kept, "vault.db") });
  await expect(checkAt(restored, known)).resolves.toMatchObject({ allowed: true });
  await expect(checkAt(restored, lost)).rejects.toThrow("was it restored from a backup?");
  await grant(restored, "carol");
  // Its number now belongs to another write.
  await expect(checkAt(restored, lost)).resolves.toMatchObject({ allowed: true });
  await stop(restored);

  const store = new DatabaseSync(file);
  store.exec("update meta set store_id = lower(hex(randomblob(16)))");
  store.close();
  const renamed = await start({ driver: "sqlite", file: join(kept, "vault.db") });
  for (const revision of [known, lost]) {
    await expect(checkAt(renamed, revision)).rejects.toThrow("belongs to another store");
  }
  await expect(checkAt(renamed, await grant(renamed, "dora"))).resolves.toMatchObject({
    allowed: true,
  });
});

await onPostgres("backups of PostgreSQL", ({ url, stop: ownServer, query }) => {
  // Another server may have another version than the programs here.
  describe.skipIf(ownServer === undefined)("a temporary server", () => {
    test("a dump of a database during writes restores decisions and audit", async () => {
      await query("create database vault");
      const address = Object.assign(new URL(url), { pathname: "/vault" }).href;
      const cwd = newFolder();
      const database = { driver: "postgres", url: address };
      const vault = await start(database);
      const written = await writeAround(vault, async () => {
        runFromPage("pg_dump", cwd, { OWNER_URL: address });
      });
      runFromPage("pg_restore", cwd, { OWNER_URL: address });
      await expectRestored(await start(database), written);
    });

    test("after a restore under a running service it makes no decisions until it is restarted", async () => {
      await query("create database vault_beneath");
      const address = Object.assign(new URL(url), { pathname: "/vault_beneath" }).href;
      const cwd = newFolder();
      const database = { driver: "postgres", url: address };
      const vault = await start(database);
      await grant(vault, "alice");
      runFromPage("pg_dump", cwd, { OWNER_URL: address });
      await grant(vault, "bob");
      await writeDocument(vault, "bob");
      runFromPage("pg_restore", cwd, { OWNER_URL: address });
      await expect
        .poll(() => writeDocument(vault, "bob").catch(String), {
          message: "the service makes no more decisions",
        })
        .toBe("Error: 503");
      await expect(writeDocument(vault, "alice")).rejects.toThrow("503");
      await stop(vault);
      const again = await start(database);
      await writeDocument(again, "alice");
      await expect(writeDocument(again, "bob")).rejects.toThrow("403");
    });
  });
});

/** The documents that were written before a backup began, and after it ended. */
interface Written {
  readonly before: readonly string[];
  readonly after: readonly string[];
}

/** Writes before, during and after a backup, and ends the server. */
async function writeAround(vault: RunningVault, backup: () => Promise<void>): Promise<Written> {
  await grant(vault, "alice");
  const before = await writeDocument(vault, "alice");
  const isDone = new AbortController();
  const meanwhile = (async () => {
    while (!isDone.signal.aborted) await writeDocument(vault, "alice");
  })();
  await backup();
  isDone.abort();
  await meanwhile;
  await grant(vault, "bob");
  const after = await writeDocument(vault, "bob");
  await stop(vault);
  return { before: [before], after: [after] };
}

async function expectRestored(vault: RunningVault, { before, after }: Written): Promise<void> {
  const known = await vault.server.audit?.list(
    { type: "vault.document.update" },
    { pageSize: 500 },
  );
  const requests = known?.events.map(({ data }) => data.request_id);
  expect(requests).toEqual(expect.arrayContaining([...before]));
  for (const id of after) expect(requests).not.toContain(id);
  // Users in the backup may still write, and later ones may not.
  await writeDocument(vault, "alice");
  await expect(writeDocument(vault, "bob")).rejects.toThrow("403");
  await grant(vault, "bob");
  await writeDocument(vault, "bob");
}

async function start(database: object): Promise<RunningVault> {
  const vault = await startVault({ config: { database } });
  running.add(vault);
  return vault;
}

async function stop(vault: RunningVault): Promise<void> {
  running.delete(vault);
  await vault.stop();
}

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "svc-access-backup-"));
  folders.push(folder);
  return folder;
}

async function grant({ engine }: RunningVault, id: string): Promise<Revision> {
  const resource = { type: "document", id: "open" };
  const relationship = { resource, relation: "editor", subject: { type: "user", id } };
  const { revision } = await engine.writeRelationships({
    updates: [{ operation: "TOUCH", relationship }],
  });
  return revision;
}

function checkAt({ engine }: RunningVault, atLeastAsFresh: Revision) {
  const resource = { type: "document", id: "open" };
  const subject = { type: "user", id: "alice" };
  return engine.check({ resource, permission: "edit", subject }, { atLeastAsFresh });
}

/** @returns the id of the request */
async function writeDocument({ http }: RunningVault, user: string): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${http}/v1/documents/open`, {
    method: "PUT",
    headers: { "x-svc-external-sub": user, "content-type": "application/json" },
    body: "{}",
  });
  await response.arrayBuffer();
  if (!response.ok) throw new Error(String(response.status));
  return response.headers.get("x-request-id") ?? "";
}
