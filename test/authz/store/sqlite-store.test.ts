import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, describe, expect, test } from "vitest";
import { openSqliteStore } from "../../../src/authz/store/sqlite/open-sqlite-store.ts";
import { storeContract } from "./store-contract.ts";
import { contents, startChild, touch } from "./store-target.ts";

const folder = mkdtempSync(join(tmpdir(), "svc-access-sqlite-"));
let count = 0;
const freshFile = () => join(folder, `store-${++count}.db`);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("a store in SQLite", () => {
  storeContract(() => ({ sqlite: { file: freshFile() } }));

  test("can be read by its owner only", async () => {
    const file = freshFile();
    const store = await openSqliteStore({ file });
    for (const suffix of ["", "-lock", "-wal", "-shm"]) {
      expect(statSync(`${file}${suffix}`).mode & 0o777, suffix).toBe(0o600);
    }
    await store.close();
  });

  test("has one lock, by whichever link it is opened", async () => {
    const file = freshFile();
    const store = await openSqliteStore({ file });
    symlinkSync(file, `${file}-link`);
    const other = openSqliteStore({ file: `${file}-link` });
    await expect(other).rejects.toMatchObject({ code: "FAILED_PRECONDITION" });
    await store.close();
  });

  test("never has two writers, even if its lock file was removed", async () => {
    const file = freshFile();
    const first = await openSqliteStore({ file });
    rmSync(`${file}-lock`);
    const second = await openSqliteStore({ file });
    const commit = first.commit([[touch("d", "first")]]);
    await expect(commit).rejects.toMatchObject({ code: "FAILED_PRECONDITION" });
    await expect(first.recover()).rejects.toThrow(/was lost to process/);
    await second.commit([[touch("d", "second")]]);
    await first.close();
    expect(await contents(second)).toEqual(["d@user:second"]);
    await second.close();
  });

  test.each([
    ":memory:",
    ":MEMORY:",
    ":memory:?cache=shared",
    "",
    " ",
    "file:store.db",
    "FILE:///tmp/store.db?mode=memory",
    "a\0b",
  ])("%j is not a valid file name, and no file is created", async (file) => {
    const before = readdirSync(".");
    const store = openSqliteStore({ file });
    await expect(store).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    await expect(store).rejects.toThrow(
      /^file must .*; for a store in memory, call createMemoryStore\(\)$/,
    );
    expect(readdirSync(".")).toEqual(before);
  });

  test("from a newer program is refused", async () => {
    const file = freshFile();
    await (await openSqliteStore({ file })).close();
    const database = new DatabaseSync(file);
    database.exec("insert into migrations values (99, 'later')");
    database.close();
    const store = openSqliteStore({ file });
    await expect(store).rejects.toThrow(
      /version 99 of the relationship tables and this program knows 2/,
    );
    await expect(store).rejects.toMatchObject({ code: "FAILED_PRECONDITION" });
  });

  test("of the first version keeps its head", async () => {
    const file = freshFile();
    const store = await openSqliteStore({ file });
    await store.commit([[touch("d", "u")], [touch("d", "v")]]);
    await store.close();
    const database = new DatabaseSync(file);
    database.exec("alter table meta add column head integer not null default 2");
    database.exec("delete from migrations where version > 1");
    database.close();
    const migrated = await openSqliteStore({ file });
    expect(migrated.sequence).toBe(2);
    expect(await migrated.commit([[touch("d", "w")]])).toBe(3);
    expect(await contents(migrated)).toEqual(["d@user:u", "d@user:v", "d@user:w"]);
    await migrated.close();
  });

  test("is unavailable when its file is full, and stays intact", async () => {
    const file = freshFile();
    const store = await openSqliteStore({ file, maxPages: 40 });
    const acknowledged = await fill(store);
    await store.recover();
    expect(store.sequence).toBe(acknowledged);
    expect(await contents(store)).toHaveLength(acknowledged * 100);
    await store.close();
    const larger = await openSqliteStore({ file });
    expect(await larger.commit([[touch("d", "u")]])).toBe(acknowledged + 1);
    await larger.close();
  });

  const disk = join(folder, "disk");
  mkdirSync(disk);
  const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=512k", "none", disk]).status === 0;
  if (mounted) afterAll(() => void execFileSync("umount", [disk]));
  test.skipIf(!mounted)(
    "is unavailable while the disk is full, and available once there is space",
    async () => {
      const filler = join(disk, "filler");
      writeFileSync(filler, Buffer.alloc(100_000));
      const store = await openSqliteStore({ file: join(disk, "store.db") });
      const acknowledged = await fill(store);
      // No other process gets the store while its disk is full.
      await store.recover().catch((error) => expect(error).toMatchObject({ code: "UNAVAILABLE" }));
      const other = openSqliteStore({ file: join(disk, "store.db") });
      await expect(other).rejects.toMatchObject({ code: "FAILED_PRECONDITION" });
      rmSync(filler);
      await store.recover();
      expect(store.sequence).toBe(acknowledged);
      expect(await contents(store)).toHaveLength(acknowledged * 100);
      expect(await store.commit([[touch("d", "u")]])).toBe(acknowledged + 1);
      await store.close();
    },
  );

  const text = () => {
    const file = freshFile();
    writeFileSync(file, "This is a text and no database. ".repeat(100));
    return file;
  };
  const foreign = () => {
    const file = freshFile();
    const database = new DatabaseSync(file);
    database.exec("create table notes (text)");
    database.close();
    return file;
  };
  test.each([
    ["a missing folder", () => join(folder, "missing/store.db"), "does not exist: create it"],
    ["a file as folder", () => join(text(), "store.db"), "does not exist: create it"],
    ["a text", text, "is not an SQLite database: name another file"],
    ["another program's database", foreign, "is a database of another program"],
    ["a folder", () => mkdtempSync(join(folder, "folder-")), "is a folder: name a file in it"],
  ])("%s is refused, and the lock is released", async (_, file, message) => {
    const path = file();
    for (let attempt = 0; attempt < 2; attempt++) {
      const store = openSqliteStore({ file: path });
      await expect(store).rejects.toMatchObject({ code: "FAILED_PRECONDITION" });
      await expect(store).rejects.toThrow(message);
    }
  });

  test("a folder that cannot be written to is refused", async () => {
    const closed = mkdtempSync(join(tmpdir(), "svc-access-closed-"));
    chmodSync(closed, 0o555);
    // Root may write everywhere, so the child runs as another user.
    const user = process.getuid?.() === 0 ? { user: 65534 } : {};
    const child = startChild({ sqlite: { file: join(closed, "store.db") }, ...user }, "hold");
    const { value } = await child.lines.next();
    child.process.kill();
    rmSync(closed, { recursive: true });
    expect(value).toMatch(/^error FAILED_PRECONDITION .* give them write access to the file/);
  });
});

/** Writes until the disk is full; returns the number of acknowledged writes. */
async function fill(store: Awaited<ReturnType<typeof openSqliteStore>>): Promise<number> {
  for (let write = 1; ; write++) {
    const updates = Array.from({ length: 100 }, (_, index) => touch(`d${write}`, `user-${index}`));
    try {
      await store.commit([updates]);
    } catch (error) {
      expect(error).toMatchObject({ code: "UNAVAILABLE" });
      expect((error as Error).message).toMatch(/is full: free disk space|disk I\/O error/);
      return write - 1;
    }
  }
}

describe("files of another user", () => {
  const ROOT = process.getuid?.() === 0;
  const NOBODY = 65_534;
  /** A closed store of another user, in that user's folder. */
  async function storeOfNobody() {
    const home = mkdtempSync(join(folder, "nobody-"));
    const file = join(home, "store.db");
    await (await openSqliteStore({ file })).close();
    rmSync(`${file}-lock`);
    for (const path of [home, file]) chownSync(path, NOBODY, NOBODY);
    return file;
  }
  /** The output of a process of that user that opens the store. */
  const openAsNobody = async (file: string) => {
    // Users other than root may pass through each parent folder.
    chmodSync(folder, 0o755);
    const child = startChild({ sqlite: { file }, user: NOBODY }, "hold");
    const { value } = await child.lines.next();
    child.process.kill();
    return value;
  };

  test.skipIf(!ROOT)("all files of a store that root opens still belong to its owner", async () => {
    const file = await storeOfNobody();
    const store = await openSqliteStore({ file });
    await store.commit([[touch("d", "u")]]);
    const beside = ["", "-lock", "-wal", "-shm"].map((end) => statSync(`${file}${end}`).uid);
    expect(beside).toEqual([NOBODY, NOBODY, NOBODY, NOBODY]);
    await store.close();
    expect(await openAsNobody(file)).not.toContain("error");
  });

  test.skipIf(!ROOT).each(["-lock", "-wal"])(
    "a %s that belongs to another user is named",
    async (end) => {
      const file = await storeOfNobody();
      writeFileSync(`${file}${end}`, "", { mode: 0o600 });
      expect(await openAsNobody(file)).toContain(
        `cannot be opened, as ${file}${end} belongs to another user: make user ${NOBODY} its owner`,
      );
    },
  );
});
